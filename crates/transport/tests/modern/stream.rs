//! With any path, what is read is what was written.

use std::sync::Arc;

use congestion::rbcc::Threshold;
use congestion::{
    BbrConfig, CubicConfig, DctcpConfig, Factory, RbccConfig, RenoConfig, RoVegasConfig,
    VegasConfig,
};
use proptest::prelude::*;
use transport::tcp::modern::{Config, Connection, EcnMode, RtoBounds, Stamps, StreamError};
use units::Duration;

use crate::path::{Faults, Net, Random};

/// How many cases are tried, unless the environment's `STREAM_CASES` says otherwise.
const CASES: u32 = 20_000;

fn cases() -> u32 {
    let asked = std::env::var("STREAM_CASES").ok();
    asked.and_then(|cases| cases.parse().ok()).unwrap_or(CASES)
}

/// What one end does with its connection.
#[derive(Clone, Debug)]
struct Plan {
    octets: usize,
    /// The longest write and read at once.
    chunk: usize,
    /// How often it does nothing instead of reading, in percent.
    lazy: u64,
    /// It closes as soon as it has written all; else as soon as it has read all, too.
    closes_first: bool,
}

fn plans() -> impl Strategy<Value = Plan> {
    (
        prop_oneof![0_usize..100, 0_usize..20_000],
        1_usize..5000,
        0_u64..60,
        any::<bool>(),
    )
        .prop_map(|(octets, chunk, lazy, closes_first)| Plan {
            octets,
            chunk,
            lazy,
            closes_first,
        })
}

fn faults() -> impl Strategy<Value = Faults> {
    let probability = || prop_oneof![2 => Just(0.0), 1 => 0.0..0.3_f64];
    let bottleneck = prop::option::of((20_000_u64..2_000_000, 2_usize..30));
    (
        probability(),
        probability(),
        probability(),
        probability(),
        probability(),
        0_u64..200_000,
        bottleneck,
    )
        .prop_map(
            |(loss, reordering, duplication, corruption, marking, delay_us, bottleneck)| Faults {
                loss,
                reordering,
                duplication,
                corruption,
                marking,
                delay: Duration::from_micros(delay_us),
                bottleneck,
            },
        )
}

pub fn configs() -> impl Strategy<Value = Config> {
    let buffer = || prop_oneof![1 => 1_usize..3000, 2 => 3000_usize..200_000];
    let stamps = prop_oneof![
        Just(Stamps::Off),
        Just(Stamps::Millis),
        Just(Stamps::Micros)
    ];
    let ecn = prop_oneof![
        Just(EcnMode::Off),
        Just(EcnMode::Classic),
        Just(EcnMode::Accurate),
        Just(EcnMode::Indication),
        Just(EcnMode::L4s)
    ];
    (
        (128_u16..1600, buffer(), buffer()),
        any::<(bool, bool, bool, bool, bool, bool, bool)>(),
        (stamps, ecn),
        prop::option::of(1_u64..200),
        1_u32..20,
    )
        .prop_map(|(sizes, switches, marks, delayed, initial_window)| Config {
            mtu: sizes.0,
            send_buffer: sizes.1,
            receive_buffer: sizes.2,
            sack: switches.0,
            window_scaling: switches.1,
            nagle: switches.2,
            pacing: switches.3,
            aqt: switches.4,
            avbw: switches.5,
            timestamps: marks.0,
            ecn: marks.1,
            ecn_option: switches.6,
            delayed_ack: delayed.map(Duration::from_millis),
            initial_window,
            max_retries: 200,
            syn_retries: 200,
            rto: RtoBounds {
                max: Duration::from_millis(4000),
                ..Default::default()
            },
            ..Config::default()
        })
}

pub fn algorithms() -> impl Strategy<Value = Arc<dyn Factory>> {
    let threshold = Threshold::Static(Duration::from_millis(50));
    let vegas = VegasConfig {
        quirks: congestion::vegas::Quirks::NONE,
        ..VegasConfig::default()
    };
    prop_oneof![
        Just(Arc::new(RenoConfig {}) as Arc<dyn Factory>),
        Just(Arc::new(CubicConfig::default()) as Arc<dyn Factory>),
        Just(Arc::new(DctcpConfig::default()) as Arc<dyn Factory>),
        Just(Arc::new(BbrConfig {}) as Arc<dyn Factory>),
        Just(Arc::new(vegas) as Arc<dyn Factory>),
        Just(Arc::new(RoVegasConfig {
            vegas,
            ..RoVegasConfig::default()
        }) as Arc<dyn Factory>),
        Just(Arc::new(RbccConfig::wired(threshold)) as Arc<dyn Factory>),
    ]
}

/// An end at work.
struct End {
    plan: Plan,
    random: Random,
    data: Vec<u8>,
    written: usize,
    read: Vec<u8>,
    finished: bool,
    closed: bool,
}

impl End {
    fn new(plan: &Plan, seed: u64) -> Self {
        let mut random = Random(seed);
        let data = (0..plan.octets).map(|_| random.next() as u8).collect();
        End {
            plan: plan.clone(),
            random,
            data,
            written: 0,
            read: Vec::new(),
            finished: false,
            closed: false,
        }
    }

    fn work(&mut self, connection: &mut Connection) {
        while self.written < self.data.len() {
            let some = 1 + self.random.below(self.plan.chunk as u64) as usize;
            let end = (self.written + some).min(self.data.len());
            match connection.write(&self.data[self.written..end]) {
                Ok(count) => self.written += count,
                Err(StreamError::Blocked) => break,
                Err(error) => panic!("writing: {error}"),
            }
        }
        let mut buffer = vec![0; self.plan.chunk];
        while !self.finished && self.random.below(100) >= self.plan.lazy {
            let some = 1 + self.random.below(self.plan.chunk as u64) as usize;
            match connection.read(&mut buffer[..some]) {
                Ok(0) => self.finished = true,
                Ok(count) => self.read.extend_from_slice(&buffer[..count]),
                Err(StreamError::Blocked) => break,
                Err(error) => panic!("reading: {error}"),
            }
        }
        let done = self.written == self.data.len();
        if done && !self.closed && (self.plan.closes_first || self.finished) {
            connection.close();
            self.closed = true;
        }
    }
}

/// Lets both ends work until both streams are over; how long that took.
fn exchange(net: &mut Net, plans: [&Plan; 2], seed: u64) -> Duration {
    let start = net.now;
    let deadline = start + Duration::from_secs_f64(2.0 * 3600.0);
    let client = net.connect();
    let mut ids = [Some(client), None];
    let mut ends = [End::new(plans[0], seed), End::new(plans[1], seed ^ 1)];
    // If both wait for the other's end, the first goes ahead.
    ends[0].plan.closes_first |= !ends[1].plan.closes_first;
    while !ends.iter().all(|end| end.finished && end.closed) {
        ids[1] = ids[1].or_else(|| net.hosts[1].accept(crate::path::PORT));
        for (host, end) in ends.iter_mut().enumerate() {
            if let Some(connection) = ids[host].and_then(|id| net.hosts[host].connection_mut(id)) {
                end.work(connection);
            }
        }
        net.transmit();
        // Lazy readers come back in a while.
        let idle = net.now + Duration::from_millis(50);
        match net.next_event() {
            Some(at) if at <= idle => {
                net.step();
            }
            _ => net.now = idle,
        }
        assert!(
            net.now < deadline,
            "stalled: {:#?}",
            [0, 1].map(|host| ids[host].and_then(|id| net.hosts[host].connection(id)))
        );
    }
    let took = net.now.since(start);
    assert!(
        ends[0].read == ends[1].data,
        "what host 0 read is not what host 1 wrote"
    );
    assert!(
        ends[1].read == ends[0].data,
        "what host 1 read is not what host 0 wrote"
    );
    // Both ends become idle.
    let ids = [ids[0].unwrap(), ids[1].unwrap()];
    for (host, id) in ids.into_iter().enumerate() {
        net.hosts[host].release(id);
    }
    net.transmit();
    let end = net.now + Duration::from_secs_f64(3600.0);
    while net.next_event().is_some_and(|at| at < end) {
        net.step();
    }
    assert!(
        net.hosts.iter().all(|host| host.is_empty()),
        "a connection is left: {:#?}",
        net.hosts
    );
    took
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_time: 60_000, ..ProptestConfig::with_cases(cases()) })]

    #[test]
    fn what_is_read_is_what_was_written(
        mut plans in [plans(), plans()],
        configs in [configs(), configs()],
        algorithm in algorithms(),
        faults in faults(),
        seed in any::<u64>(),
    ) {
        let [one, mut two] = configs;
        // A buffer of an octet takes a round trip for each, and a timeout for each that is lost.
        let flights = |sender: &Config, receiver: &Config| {
            60 * sender.send_buffer.min(receiver.receive_buffer)
        };
        plans[0].octets = plans[0].octets.min(flights(&one, &two));
        plans[1].octets = plans[1].octets.min(flights(&two, &one));
        // This is not negotiated.
        two.ecn = one.ecn;
        let mut net = Net::new([one, two], algorithm, faults, seed);
        exchange(&mut net, [&plans[0], &plans[1]], seed);
    }
}

#[test]
fn a_clean_path_carries_a_megabyte_in_the_time_that_slow_start_takes() {
    let plan = |octets| Plan {
        octets,
        chunk: 100_000,
        lazy: 0,
        closes_first: true,
    };
    let configs = [Config::default(), Config::default()];
    let mut net = Net::new(configs, Arc::new(RenoConfig {}), Faults::NONE, 1);
    let took = exchange(&mut net, [&plan(1_000_000), &plan(0)], 7);
    // 691 segments: 10, 20, 40, … 320, 61 are 7 round trips, after one to open; then the FIN's.
    assert!(took < Duration::from_millis(10 * 20), "{took}");
    assert!(took > Duration::from_millis(6 * 20), "{took}");
}
