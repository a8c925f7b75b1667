//! Each congestion control on a bottleneck of 5 Mb/s and 40 ms, with room for 30 packets: a pipe of 17.

use std::sync::Arc;

use congestion::vegas::Quirks;
use congestion::westwood::Sampling;
use congestion::{
    Bbr3Config, BbrConfig, CardConfig, CubicConfig, DctcpConfig, DualConfig, Factory, FastConfig,
    HighSpeedConfig, RenoConfig, ReroutingVegasConfig, SantaCruzConfig, ScalableConfig, TriSConfig,
    VegasConfig, VegasPlusConfig, WestwoodConfig, ZhangTsaoussidisConfig,
};
use transport::tcp::modern::{Config, EcnMode, Stamps};
use units::Duration;

use crate::path::{Faults, Net};

/// Octets per second.
const RATE: u64 = 625_000;
const QUEUE: usize = 30;
/// How long a run is measured, after as long again.
const MEASURED: f64 = 6.0;

/// What a run showed in its second half.
#[derive(Debug)]
struct Outcome {
    /// Of the bottleneck's rate, what was delivered as payload.
    goodput: f64,
    /// The mean queueing delay, in milliseconds.
    queue_ms: f64,
    /// Segments sent again.
    resent: u64,
}

/// A path with room for this many packets.
fn path(queue: usize) -> Faults {
    Faults {
        delay: Duration::from_millis(20),
        bottleneck: Some((RATE, queue)),
        ..Faults::NONE
    }
}

/// A path with such a probability of loss, and a threshold for marks.
fn run(algorithm: Arc<dyn Factory>, config: Config, loss: f64, mark_from: usize) -> Outcome {
    let faults = Faults {
        loss,
        ..path(QUEUE)
    };
    over(faults, algorithm, config, mark_from)
}

fn over(faults: Faults, algorithm: Arc<dyn Factory>, config: Config, mark_from: usize) -> Outcome {
    let mut net = Net::new([config.clone(), config], algorithm, faults, 11);
    net.mark_from = mark_from;
    let [client, server] = net.established();
    net.hosts[0]
        .connection_mut(client)
        .unwrap()
        .write_zeros(u64::MAX)
        .unwrap();
    net.transmit();
    let state = |net: &Net| {
        let delivered = net.hosts[1]
            .connection(server)
            .unwrap()
            .stats()
            .delivered_octets;
        let resent = net.hosts[0].connection(client).unwrap().stats().resent;
        (delivered, resent)
    };
    advance(&mut net);
    let before = state(&net);
    let queue_ms = advance(&mut net);
    let after = state(&net);
    Outcome {
        goodput: (after.0 - before.0) as f64 / (RATE as f64 * MEASURED),
        queue_ms,
        resent: after.1 - before.1,
    }
}

/// Runs on; the mean queueing delay over time.
fn advance(net: &mut Net) -> f64 {
    let end = net.now + Duration::from_secs_f64(MEASURED);
    let (mut samples, mut sum) = (0_u32, 0.0);
    while net.now < end {
        net.run_for(Duration::from_millis(5));
        samples += 1;
        sum += net.queue(0).as_secs_f64();
    }
    sum / f64::from(samples) * 1000.0
}

/// Every segment is acknowledged at once, as the schemes that look at delays presuppose: an
/// acknowledgement that waits for a second segment looks like a queue.
fn config() -> Config {
    Config {
        delayed_ack: None,
        elided: true,
        timestamps: Stamps::Micros,
        ecn: EcnMode::Off,
        ..Config::default()
    }
}

fn clean(algorithm: impl Factory + 'static) -> Outcome {
    run(Arc::new(algorithm), config(), 0.0, usize::MAX)
}

/// 1448 of 1500 octets are payload.
const PAYLOAD: f64 = 1448.0 / 1500.0;

#[test]
fn every_control_fills_the_path() {
    let vegas = VegasConfig {
        quirks: Quirks::NONE,
        ..VegasConfig::default()
    };
    let all: Vec<(&str, Outcome)> = vec![
        ("Reno", clean(RenoConfig {})),
        ("Vegas", clean(vegas)),
        (
            "Vegas+",
            clean(VegasPlusConfig {
                vegas,
                ..VegasPlusConfig::default()
            }),
        ),
        (
            "La's Vegas",
            clean(ReroutingVegasConfig {
                vegas,
                ..ReroutingVegasConfig::default()
            }),
        ),
        ("CARD", clean(CardConfig::default())),
        ("DUAL", clean(DualConfig {})),
        ("Tri-S", clean(TriSConfig::default())),
        ("Santa Cruz", clean(SantaCruzConfig::default())),
        (
            "Zhang and Tsaoussidis",
            clean(ZhangTsaoussidisConfig::default()),
        ),
        ("FAST", clean(FastConfig::default())),
        (
            "Westwood",
            clean(WestwoodConfig {
                sampling: Sampling::EveryAck,
            }),
        ),
        (
            "Westwood+",
            clean(WestwoodConfig {
                sampling: Sampling::EveryRtt,
            }),
        ),
        ("HighSpeed", clean(HighSpeedConfig {})),
        ("Scalable", clean(ScalableConfig {})),
        ("CUBIC", clean(CubicConfig::default())),
        ("DCTCP", clean(DctcpConfig::default())),
        ("BBR", clean(BbrConfig {})),
        ("BBRv3", clean(Bbr3Config {})),
    ];
    for (name, outcome) in &all {
        println!("{name:22} {outcome:?}");
    }
    for (name, outcome) in &all {
        assert!(outcome.goodput > 0.85 * PAYLOAD, "{name}: {outcome:?}");
    }
}

#[test]
fn bbr_keeps_the_queue_short_and_does_not_mind_random_losses() {
    let bbr = clean(BbrConfig {});
    let cubic = clean(CubicConfig::default());
    assert!(bbr.queue_ms < cubic.queue_ms / 2.0, "{bbr:?} {cubic:?}");
    let lossy = |algorithm: Arc<dyn Factory>| run(algorithm, config(), 0.02, usize::MAX).goodput;
    let (bbr, reno) = (
        lossy(Arc::new(BbrConfig {})),
        lossy(Arc::new(RenoConfig {})),
    );
    assert!(bbr > 0.8 * PAYLOAD && bbr > 2.0 * reno, "{bbr} {reno}");
}

/// Version 1 keeps two bandwidth-delay products in flight, with any losses. Version 3 bounds what is in flight as more than
/// 2 % are lost.
#[test]
fn bbr3_loses_less_than_bbr_in_a_shallow_buffer() {
    let shallow = |algorithm: Arc<dyn Factory>| over(path(5), algorithm, config(), usize::MAX);
    let (first, third) = (
        shallow(Arc::new(BbrConfig {})),
        shallow(Arc::new(Bbr3Config {})),
    );
    assert!(third.resent < first.resent, "{third:?} {first:?}");
    assert!(third.goodput > 0.8 * PAYLOAD, "{third:?}");
}

#[test]
fn dctcp_holds_the_queue_at_the_mark() {
    // A threshold of 5 packets is 12 ms.
    let marking = Config {
        ecn: EcnMode::Accurate,
        delayed_ack: Config::default().delayed_ack,
        ..config()
    };
    let dctcp = run(Arc::new(DctcpConfig::default()), marking, 0.0, 5);
    println!("{dctcp:?}");
    assert!(dctcp.goodput > 0.95 * PAYLOAD, "{dctcp:?}");
    assert!((4.0..16.0).contains(&dctcp.queue_ms), "{dctcp:?}");
    assert_eq!(dctcp.resent, 0);
    // Reno answers each mark with a half, and runs dry.
    let classic = Config {
        ecn: EcnMode::Classic,
        ..config()
    };
    let reno = run(Arc::new(RenoConfig {}), classic, 0.0, 5);
    assert!(reno.goodput < dctcp.goodput, "{reno:?} {dctcp:?}");
}
