//! Segments per second of the stack alone: a sender and a receiver on a perfect path, in virtual
//! time.

use std::collections::VecDeque;
use std::hint::black_box;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;

use congestion::{
    AckEvent, Controller, Deployment, Factory, Limits, LossEvent, RenoConfig, RoVegasConfig,
    TimeoutEvent, VegasConfig,
};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use transport::tcp::{Config, Connection, Recovery, Segment, Supply, modern};
use transport::wire::{Body, Flow, MAX_HEADER_OCTETS, Packet, decode, encode};
use units::{Duration, Instant};

const SEGMENTS: u64 = 10_000;
/// Segments in flight on a long path, and acknowledgements of one run there.
const LONG_WINDOW: u64 = 10_000;
const LONG_ACKS: u64 = 100_000;

/// Moves [`SEGMENTS`] data segments and their acknowledgements, a window a round trip.
fn transfer(config: &Config, algorithm: &dyn Factory) -> u64 {
    let mut sender = Connection::new(config, algorithm);
    let mut receiver = Connection::new(&config.peer(), &RenoConfig {});
    let mut now = Instant::ZERO;
    let mut window = Vec::new();
    while !sender.is_finished() {
        window.clear();
        window.extend(std::iter::from_fn(|| sender.poll_transmit(now)));
        for segment in &window {
            now += Duration::from_micros(10);
            receiver.handle_segment(now, segment);
            while let Some(ack) = receiver.poll_transmit(now) {
                sender.handle_segment(now + Duration::from_millis(50), &ack);
            }
        }
        now += Duration::from_millis(50);
    }
    sender.stats().sent
}

fn stack(c: &mut Criterion) {
    let mut group = c.benchmark_group("segments");
    group.throughput(Throughput::Elements(SEGMENTS));
    let run = |recovery, aqt| Config {
        supply: Supply::Segments(SEGMENTS),
        aqt,
        ..Config::chan(recovery)
    };
    let rovegas = RoVegasConfig {
        deployment: Deployment::Full,
        ..RoVegasConfig::default()
    };
    let cases: [(&str, Config, &dyn Factory); 3] = [
        ("reno", run(Recovery::Reno, false), &RenoConfig {}),
        (
            "vegas",
            run(Recovery::Vegas, false),
            &VegasConfig::default(),
        ),
        ("rovegas", run(Recovery::Vegas, true), &rovegas),
    ];
    for (name, config, algorithm) in &cases {
        group.bench_function(*name, |b| {
            b.iter(|| transfer(black_box(config), *algorithm))
        });
    }
    group.finish();
}

fn wire(c: &mut Criterion) {
    let config = Config {
        aqt: true,
        ..Config::chan(Recovery::Vegas)
    };
    let mut sender = Connection::new(&config, &RoVegasConfig::default());
    let segment = sender
        .poll_transmit(Instant::ZERO)
        .expect("the first segment may be sent");
    let flow = Flow {
        source_mac: [2, 0, 0, 0, 0, 1],
        destination_mac: [2, 0, 0, 0, 0, 2],
        source: [10, 0, 0, 1].into(),
        destination: [10, 0, 0, 2].into(),
        source_port: 4000,
        destination_port: 5000,
    };
    let packet = Packet {
        flow,
        identification: 0,
        ttl: 64,
        body: Body::Tcp(segment),
    };
    let mut buffer = [0; MAX_HEADER_OCTETS];
    let octets = encode(&packet, &mut buffer).expect("the packet fits");
    let mut group = c.benchmark_group("wire");
    group.throughput(Throughput::Elements(1));
    group.bench_function("decode", |b| {
        b.iter(|| decode(black_box(&buffer[..octets]), 952))
    });
    group.bench_function("encode", |b| {
        b.iter(|| encode(black_box(&packet), &mut buffer))
    });
    group.finish();
}

/// Moves as many octets between two hosts of the modern profile, headers and checksums written and
/// read.
fn hosts(configs: &[modern::Config; 2], payload: &[u8]) -> u64 {
    let addresses = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2)];
    let [mut sender, mut receiver] = [0, 1].map(|i| {
        let reno = Arc::new(RenoConfig {});
        modern::Endpoint::new(addresses[i], configs[i].clone(), reno, [i as u8; 16])
    });
    let mut now = Instant::ZERO;
    receiver.listen(80, 1).expect("the port is free");
    let id = sender
        .connect(now, SocketAddrV4::new(addresses[1], 80))
        .expect("a port is free");
    let (mut written, mut accepted) = (0, None);
    let (mut packet, mut buffer) = (vec![0; 1500], vec![0; 1 << 16]);
    let mut segments = 0;
    while sender.connection(id).is_some_and(|c| !c.is_finished()) || written < payload.len() {
        let connection = sender.connection_mut(id).expect("it goes on");
        written += connection.write(&payload[written..]).unwrap_or(0);
        while let Some(octets) = sender.poll_transmit(now, &mut packet) {
            segments += 1;
            receiver
                .handle_packet(now, &packet[..octets])
                .expect("the packet is whole");
        }
        accepted = accepted.or_else(|| receiver.accept(80));
        if let Some(connection) = accepted.and_then(|id| receiver.connection_mut(id)) {
            while connection.read(&mut buffer).is_ok_and(|count| count > 0) {}
        }
        while let Some(octets) = receiver.poll_transmit(now, &mut packet) {
            sender
                .handle_packet(now, &packet[..octets])
                .expect("the packet is whole");
        }
        now += Duration::from_micros(100);
        sender.handle_timeout(now);
        receiver.handle_timeout(now);
    }
    segments
}

fn modern_hosts(c: &mut Criterion) {
    let mut group = c.benchmark_group("modern");
    let plain = modern::Config {
        pacing: false,
        ..modern::Config::default()
    };
    let marked = modern::Config {
        aqt: true,
        avbw: true,
        ..plain.clone()
    };
    for (name, config) in [("plain", plain), ("marked", marked)] {
        let payload = vec![7; 1436 * SEGMENTS as usize];
        let configs = [config.clone(), config];
        group.throughput(Throughput::Elements(hosts(&configs, &payload)));
        group.bench_function(name, |b| {
            b.iter(|| hosts(black_box(&configs), black_box(&payload)))
        });
    }
    group.finish();
}

/// A window that nothing changes.
#[derive(Debug)]
struct Constant(f64);

impl Factory for Constant {
    fn build(&self, _: &Limits) -> Box<dyn Controller> {
        Box::new(Constant(self.0))
    }
}

impl Controller for Constant {
    fn cwnd(&self) -> f64 {
        self.0
    }

    fn ssthresh(&self) -> f64 {
        self.0
    }

    fn on_ack(&mut self, _: &AckEvent) {}

    fn on_loss(&mut self, _: &LossEvent) {}

    fn on_timeout(&mut self, _: &TimeoutEvent) {}
}

/// Sends [`LONG_ACKS`] segments with [`LONG_WINDOW`] in flight, one per microsecond. The path loses
/// one data segment in `loss_interval`, at random. Every segment that arrives is acknowledged.
/// Returns the acknowledgements that the sender took.
fn long_path(loss_interval: Option<u64>) -> u64 {
    let config = Arc::new(modern::Config {
        elided: true,
        delayed_ack: None,
        pacing: false,
        receive_buffer: 1 << 27,
        ..modern::Config::default()
    });
    let algorithm = Constant(LONG_WINDOW as f64);
    let mut sender = modern::Connection::connect(config.clone(), &algorithm, 1);
    let mut receiver = modern::Connection::listen(config, &algorithm, 2);
    sender.write_zeros(u64::MAX).expect("the stream is open");
    let spacing = Duration::from_micros(1);
    let delay = spacing * (LONG_WINDOW / 2);
    let (mut now, mut acks, mut random) = (Instant::ZERO, 0, 1_u64);
    let (mut data, mut answers) = (VecDeque::new(), VecDeque::new());
    while acks < LONG_ACKS {
        now += spacing;
        sender.handle_timeout(now);
        receiver.handle_timeout(now);
        while let Some(segment) = arrived(&mut data, now) {
            receiver.handle_segment(now, &segment, &[]);
            while let Some(answer) = receiver.poll_transmit(now) {
                answers.push_back((now + delay, answer));
            }
        }
        while let Some(answer) = arrived(&mut answers, now) {
            sender.handle_segment(now, &answer, &[]);
            acks += 1;
        }
        if let Some(segment) = sender.poll_transmit(now) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            if segment.payload == 0
                || loss_interval.is_none_or(|interval| !random.is_multiple_of(interval))
            {
                data.push_back((now + delay, segment));
            }
        }
    }
    acks
}

/// The next segment that a path delivers by `now`.
fn arrived(path: &mut VecDeque<(Instant, Segment)>, now: Instant) -> Option<Segment> {
    path.front().filter(|(at, _)| *at <= now)?;
    path.pop_front().map(|(_, segment)| segment)
}

/// Cost per acknowledgement of a long path, with and without loss.
fn long_window(c: &mut Criterion) {
    let mut group = c.benchmark_group("acks");
    group.throughput(Throughput::Elements(LONG_ACKS));
    for (name, loss_interval) in [("lossless", None), ("loss-1%", Some(100))] {
        group.bench_function(name, |b| b.iter(|| long_path(black_box(loss_interval))));
    }
    group.finish();
}

criterion_group!(benches, stack, modern_hosts, long_window, wire);
criterion_main!(benches);
