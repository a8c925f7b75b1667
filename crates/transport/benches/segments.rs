//! Segments per second of the stack alone: a sender and a receiver on a perfect path, in virtual
//! time.

use std::hint::black_box;

use congestion::{Deployment, Factory, RenoConfig, RoVegasConfig, VegasConfig};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use transport::tcp::{Config, Connection, Recovery, Supply};
use transport::wire::{Body, Flow, MAX_HEADER_OCTETS, Packet, decode, encode};
use units::{Duration, Instant};

const SEGMENTS: u64 = 10_000;

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

criterion_group!(benches, stack, wire);
criterion_main!(benches);
