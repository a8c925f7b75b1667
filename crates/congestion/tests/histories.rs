//! Random histories of operations, driving every control directly: with the delivery rates, losses and
//! marks that only the modern profile reports. Histories of whole connections are `transport`'s.

use congestion::rbcc::Threshold;
use congestion::westwood::Sampling;
use congestion::{
    AckEvent, BbrConfig, CardConfig, Controller, CubicConfig, DctcpConfig, DualConfig, Evidence,
    Factory, FastConfig, HighSpeedConfig, Limits, LossEvent, RateSample, RbccConfig,
    ReroutingVegasConfig, SantaCruzConfig, ScalableConfig, TimeoutEvent, TriSConfig, VegasConfig,
    VegasPlusConfig, WestwoodConfig, ZhangTsaoussidisConfig, vegas::Quirks,
};
use proptest::prelude::*;
use units::{Duration, Instant};

/// What a transport can tell a control, or a path do between.
#[derive(Clone, Debug)]
enum Operation {
    /// Time passes, in microseconds.
    Wait(u64),
    /// This many segments are acknowledged, some of them marked, after such a round trip.
    Ack {
        segments: u64,
        marked: bool,
        rtt_us: u64,
    },
    /// The same, in the middle of a recovery.
    PartialAck(u64),
    /// A duplicate that says that a segment arrived.
    Duplicate,
    /// The application has nothing to send.
    Unused,
    /// Losses are found.
    Lose(u64),
    /// A mark is echoed.
    Mark,
    /// A recovery ends.
    Recover,
    /// The timer runs out.
    Timeout,
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    use Operation::*;
    let operation = prop_oneof![
        3 => (0_u64..3_000_000).prop_map(Wait),
        12 => (1_u64..4, any::<bool>(), 0_u64..400_000)
            .prop_map(|(segments, marked, rtt_us)| Ack { segments, marked, rtt_us }),
        1 => (1_u64..4).prop_map(PartialAck),
        2 => Just(Duplicate),
        1 => Just(Unused),
        1 => (1_u64..9).prop_map(Lose),
        1 => Just(Mark),
        1 => Just(Recover),
        1 => Just(Timeout),
    ];
    prop::collection::vec(operation, 1..600)
}

/// Every control that the modern profile may be given.
fn controls() -> Vec<Box<dyn Factory>> {
    let vegas = VegasConfig {
        quirks: Quirks::NONE,
        ..VegasConfig::default()
    };
    let westwood = |sampling| Box::new(WestwoodConfig { sampling });
    vec![
        Box::new(vegas),
        Box::new(VegasPlusConfig {
            vegas,
            ..VegasPlusConfig::default()
        }),
        Box::new(ReroutingVegasConfig {
            vegas,
            ..ReroutingVegasConfig::default()
        }),
        Box::new(RbccConfig::wired(Threshold::Dynamic)),
        Box::new(CardConfig::default()),
        Box::new(DualConfig {}),
        Box::new(TriSConfig::default()),
        Box::new(SantaCruzConfig::default()),
        Box::new(ZhangTsaoussidisConfig::default()),
        Box::new(FastConfig::default()),
        westwood(Sampling::EveryAck),
        westwood(Sampling::EveryRtt),
        Box::new(HighSpeedConfig {}),
        Box::new(ScalableConfig {}),
        Box::new(CubicConfig::default()),
        Box::new(DctcpConfig::default()),
        Box::new(BbrConfig {}),
    ]
}

/// No control leaves less than a segment.
const FLOOR: f64 = 1.0;

/// A control, and the connection as its events describe it.
#[derive(Debug)]
struct World {
    control: Box<dyn Controller>,
    now: Instant,
    acked: u64,
    delivered: u64,
    next: u64,
}

impl World {
    fn new(factory: &dyn Factory) -> Self {
        let mut control = factory.build(&Limits {
            initial_window: 10.0,
            initial_ssthresh: 1000.0,
            max_cwnd: None,
            ..Limits::default()
        });
        control.on_sent(Instant::from_micros(1), 0);
        World {
            control,
            now: Instant::from_micros(1),
            acked: 0,
            delivered: 0,
            next: 1,
        }
    }

    fn window(&self) -> u64 {
        self.control.cwnd().min(1e9) as u64
    }

    fn send(&mut self) {
        while self.next < self.acked + self.window().min(50) {
            self.control.on_sent(self.now, self.next);
            self.next += 1;
        }
    }

    fn event(&mut self, segments: u64, rtt_us: u64) -> AckEvent {
        let segments = segments.min(self.next - self.acked);
        self.acked += segments;
        self.delivered += segments.max(1);
        let rtt = Duration::from_micros(rtt_us);
        AckEvent {
            now: self.now,
            acked: self.acked,
            newly_acked: segments,
            next: self.next,
            in_flight: self.next - self.acked,
            rtt: Some(rtt),
            ts_forward: Some(rtt_us as i64 * 500),
            ts_backward: Some(rtt_us as i64 * 500),
            newly_delivered: segments.max(1),
            rate: Some(RateSample {
                delivered: segments.max(1),
                interval: rtt.max(Duration::from_micros(1)),
                prior_delivered: self.delivered.saturating_sub(20),
                total_delivered: self.delivered,
                rtt,
                ..RateSample::default()
            }),
            ..AckEvent::default()
        }
    }

    fn loss(&self, evidence: Evidence) -> LossEvent {
        LossEvent {
            now: self.now,
            evidence,
            lost: self.acked,
            sent_at: Some(self.now),
            transmissions: 1,
            duplicates: 3,
            window: self.window(),
        }
    }

    fn apply(&mut self, operation: &Operation) {
        match *operation {
            Operation::Wait(us) => self.now += Duration::from_micros(us),
            Operation::Ack {
                segments,
                marked,
                rtt_us,
            } if self.next > self.acked => {
                let event = self.event(segments, rtt_us);
                self.control.on_ack(&AckEvent {
                    newly_marked: if marked { event.newly_delivered } else { 0 },
                    ..event
                });
            }
            Operation::PartialAck(segments) if self.next > self.acked => {
                let event = self.event(segments, 100_000);
                self.control
                    .on_partial_ack(&AckEvent { rtt: None, ..event });
            }
            Operation::Unused if self.next > self.acked => {
                let event = self.event(1, 100_000);
                self.control.on_ack(&AckEvent {
                    window_unused: true,
                    ..event
                });
            }
            Operation::Ack { .. } | Operation::PartialAck(_) | Operation::Unused => {}
            Operation::Duplicate => {
                let event = self.event(0, 100_000);
                self.control.on_duplicate_ack(&AckEvent {
                    duplicates: 1,
                    rtt: None,
                    ..event
                });
            }
            Operation::Lose(lost) => {
                self.control.on_loss(&self.loss(Evidence::Time));
                let event = self.event(0, 100_000);
                self.control.on_duplicate_ack(&AckEvent {
                    newly_lost: lost,
                    ..event
                });
            }
            Operation::Mark => self.control.on_congestion_mark(&self.loss(Evidence::Mark)),
            Operation::Recover => self.control.on_recovered(self.now),
            Operation::Timeout => {
                let window = self.window();
                self.next = self.acked;
                self.control.on_timeout(&TimeoutEvent {
                    now: self.now,
                    window,
                });
            }
        }
        self.send();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_history_leaves_a_window_and_the_same_one(history in operations()) {
        for factory in controls() {
            let mut worlds = [World::new(&*factory), World::new(&*factory)];
            for operation in &history {
                for world in &mut worlds {
                    world.apply(operation);
                    let state = world.control.snapshot();
                    prop_assert!(state.cwnd.is_finite() && state.cwnd >= FLOOR, "{operation:?} {world:?}");
                    prop_assert!(state.ssthresh >= 2.0, "{operation:?} {world:?}");
                    let rate = world.control.pacing_rate();
                    prop_assert!(rate.is_none_or(|rate| rate.is_finite() && rate > 0.0), "{world:?}");
                }
            }
            let [left, right] = worlds;
            prop_assert_eq!(format!("{left:?}"), format!("{right:?}"));
        }
    }
}
