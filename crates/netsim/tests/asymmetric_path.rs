//! Chan 2004, figures 3.4 and 3.5: one flow whose acknowledgements meet the bottleneck.
//!
//! 1.6 Mb/s and 20 ms there, 1/k of the acknowledgements that this takes on the way back; queues of
//! 10.

use congestion::{Factory, RenoConfig, RoVegasConfig, VegasConfig};
use netsim::replay::{FlowSpec, Kind, LinkSpec, Network};
use transport::tcp::{Config, Connection, Recovery};
use units::{Duration, Instant};

/// Data packets per second in 100–200 s.
fn packets_per_second(back_bps: u64, aqt: bool, algorithm: &dyn Factory) -> f64 {
    let link = |rate_bps, delay_ms| LinkSpec {
        rate_bps,
        delay: Duration::from_millis(delay_ms),
        limit: 10,
    };
    let access = link(10_000_000, 1);
    let links = [
        access,
        access,
        link(1_600_000, 20),
        link(back_bps, 20),
        access,
        access,
    ];
    let config = Config {
        aqt,
        ..Config::chan(Recovery::Vegas)
    };
    let flow = FlowSpec {
        start: Instant::ZERO,
        sender: Connection::new(&config, algorithm),
        receiver: Connection::new(&config.peer(), &RenoConfig {}),
        forward: vec![0, 2, 4],
        backward: vec![5, 3, 1],
    };
    let rows = Network::new(&links, vec![flow], 2, &[]).run(Instant::from_micros(200_000_000));
    let measured = rows.iter().filter(|row| row.kind == Kind::Dequeue);
    let measured = measured.filter(|row| row.at >= Instant::from_micros(100_000_000));
    measured.count() as f64 / 100.0
}

#[test]
fn vegas_gets_one_kth_of_the_forward_bandwidth() {
    for k in [2, 4, 8, 16, 32] {
        let rate = packets_per_second(64_000 / k, false, &VegasConfig::default());
        let expected = 200.0 / k as f64;
        assert!(
            (rate / expected - 1.0).abs() < 0.01,
            "k = {k}: {rate} packets/s, (3.17) says {expected}"
        );
    }
}

#[test]
fn rovegas_gets_two_to_three_times_as_much() {
    // (3.21): 1 < F ≤ 3. Figure 3.5: the whole 200 packets/s at k = 2, "about 2" at 4, "about 3"
    // from 8 on.
    for (k, ratio) in [
        (2, 1.98..2.001),
        (4, 1.9..2.6),
        (8, 2.9..3.001),
        (16, 2.9..3.001),
        (32, 2.9..3.001),
    ] {
        let rate = packets_per_second(76_800 / k, true, &RoVegasConfig::default());
        let over_vegas = rate * k as f64 / 200.0;
        assert!(
            ratio.contains(&over_vegas),
            "k = {k}: {over_vegas} times Vegas, not in {ratio:?}"
        );
    }
}
