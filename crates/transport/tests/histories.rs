//! Random histories of operations on a connection: it stays consistent with any network.

use congestion::rbcc::Threshold;
use congestion::vegas::Quirks;
use congestion::westwood::Sampling;
use congestion::{
    BbrConfig, CardConfig, CubicConfig, DctcpConfig, Deployment, DualConfig, EnhancedVegasConfig,
    Factory, FastConfig, HighSpeedConfig, MuzhaConfig, QuickVegasConfig, RbccConfig,
    RedVegasConfig, RenoConfig, ReroutingVegasConfig, RoVegasConfig, SantaCruzConfig,
    ScalableConfig, TahoeConfig, TriSConfig, VegasAConfig, VegasConfig, VegasPlusConfig,
    WaymarkConfig, WestwoodConfig, ZhangTsaoussidisConfig,
};
use proptest::prelude::*;
use transport::tcp::{Aqt, Clock, Config, Connection, Ecn, Recovery, Segment, Stats, Supply};
use units::{Duration, Instant};

/// What can happen to a sender and a receiver. Indices are taken modulo what there is.
#[derive(Clone, Debug)]
enum Operation {
    /// Time passes, up to the timer but not beyond it.
    Wait(u64),
    /// A data segment arrives, having queued.
    DeliverData(usize, u32),
    /// An acknowledgement arrives, having queued.
    DeliverAck(usize, u32),
    /// A data segment is lost.
    LoseData(usize),
    /// An acknowledgement is lost.
    LoseAck(usize),
    /// A data segment is doubled.
    CopyData(usize),
    /// A hop that removes the option passes over an acknowledgement.
    StripAck(usize),
    /// The timer runs out.
    Timeout,
    /// An acknowledgement that no receiver sent.
    ForgeAck(u32),
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    use Operation::*;
    let operation = prop_oneof![
        4 => (1_u64..300_000).prop_map(Wait),
        // Mostly in order: index 0 is the oldest.
        12 => (prop_oneof![8 => Just(0_usize), 1 => 0_usize..6], 0_u32..90_000).prop_map(|(i, q)| DeliverData(i, q)),
        12 => (prop_oneof![8 => Just(0_usize), 1 => 0_usize..6], 0_u32..0x0110_0000).prop_map(|(i, q)| DeliverAck(i, q)),
        2 => (0_usize..6).prop_map(LoseData),
        1 => (0_usize..6).prop_map(LoseAck),
        1 => (0_usize..6).prop_map(CopyData),
        1 => (0_usize..6).prop_map(StripAck),
        1 => Just(Timeout),
        1 => any::<u32>().prop_map(ForgeAck),
    ];
    prop::collection::vec(operation, 1..400)
}

#[derive(Clone, Copy, Debug)]
enum Algorithm {
    Tahoe,
    Reno,
    NewReno,
    Sack,
    Fack,
    Vegas {
        quirks: Quirks,
    },
    RoVegas {
        deployment: Deployment,
    },
    EnhancedVegas,
    QuickVegas,
    RedVegas,
    VegasA,
    Muzha,
    Rbcc(RbccConfig),
    /// Any other, with its own settings.
    Other(Recovery, fn() -> Box<dyn Factory>),
}

const T: Duration = Duration::from_millis(120);

impl Algorithm {
    const ALL: [Algorithm; 35] = [
        Algorithm::Tahoe,
        Algorithm::Reno,
        Algorithm::NewReno,
        Algorithm::Sack,
        Algorithm::Fack,
        Algorithm::Vegas {
            quirks: Quirks::NS2,
        },
        Algorithm::Vegas {
            quirks: Quirks::NS2_FAITHFUL,
        },
        Algorithm::Vegas {
            quirks: Quirks::NONE,
        },
        Algorithm::RoVegas {
            deployment: Deployment::Full,
        },
        Algorithm::RoVegas {
            deployment: Deployment::Gradual,
        },
        Algorithm::EnhancedVegas,
        Algorithm::QuickVegas,
        Algorithm::RedVegas,
        Algorithm::VegasA,
        Algorithm::Muzha,
        Algorithm::Rbcc(RbccConfig::wired(Threshold::Static(T))),
        Algorithm::Rbcc(RbccConfig::wired(Threshold::Dynamic)),
        Algorithm::Rbcc(RbccConfig::wireless(Threshold::Static(T))),
        Algorithm::Rbcc(RbccConfig::wireless(Threshold::Dynamic)),
        Algorithm::Other(Recovery::Vegas, || Box::new(VegasPlusConfig::default())),
        Algorithm::Other(Recovery::Sack, || Box::new(WaymarkConfig::default())),
        Algorithm::Other(
            Recovery::Vegas,
            || Box::new(ReroutingVegasConfig::default()),
        ),
        Algorithm::Other(Recovery::NewReno, || Box::new(CardConfig::default())),
        Algorithm::Other(Recovery::NewReno, || Box::new(DualConfig {})),
        Algorithm::Other(Recovery::NewReno, || Box::new(TriSConfig::default())),
        Algorithm::Other(Recovery::NewReno, || Box::new(SantaCruzConfig::default())),
        Algorithm::Other(Recovery::NewReno, || {
            Box::new(ZhangTsaoussidisConfig::default())
        }),
        Algorithm::Other(Recovery::NewReno, || Box::new(FastConfig::default())),
        Algorithm::Other(Recovery::NewReno, || {
            let sampling = Sampling::EveryAck;
            Box::new(WestwoodConfig { sampling })
        }),
        Algorithm::Other(Recovery::NewReno, || {
            let sampling = Sampling::EveryRtt;
            Box::new(WestwoodConfig { sampling })
        }),
        Algorithm::Other(Recovery::Sack, || Box::new(HighSpeedConfig {})),
        Algorithm::Other(Recovery::Sack, || Box::new(ScalableConfig {})),
        Algorithm::Other(Recovery::Sack, || Box::new(CubicConfig::default())),
        Algorithm::Other(Recovery::Sack, || Box::new(DctcpConfig::default())),
        Algorithm::Other(Recovery::Sack, || Box::new(BbrConfig {})),
    ];

    fn recovery(self) -> Recovery {
        match self {
            Algorithm::Tahoe => Recovery::Tahoe,
            Algorithm::Reno => Recovery::Reno,
            Algorithm::NewReno => Recovery::NewReno,
            Algorithm::Sack => Recovery::Sack,
            Algorithm::Fack => Recovery::Fack,
            Algorithm::Muzha => Recovery::Reno,
            Algorithm::Rbcc(_) => Recovery::NewReno,
            Algorithm::Other(recovery, _) => recovery,
            Algorithm::Vegas { .. }
            | Algorithm::RoVegas { .. }
            | Algorithm::EnhancedVegas
            | Algorithm::QuickVegas
            | Algorithm::RedVegas
            | Algorithm::VegasA => Recovery::Vegas,
        }
    }

    fn factory(self) -> Box<dyn Factory> {
        match self {
            Algorithm::Tahoe | Algorithm::Fack => Box::new(TahoeConfig {}),
            Algorithm::Reno | Algorithm::NewReno | Algorithm::Sack => Box::new(RenoConfig {}),
            Algorithm::Vegas { quirks } => Box::new(VegasConfig {
                quirks,
                ..VegasConfig::default()
            }),
            Algorithm::EnhancedVegas => Box::new(EnhancedVegasConfig::default()),
            Algorithm::QuickVegas => Box::new(QuickVegasConfig::default()),
            Algorithm::RedVegas => Box::new(RedVegasConfig::default()),
            Algorithm::VegasA => Box::new(VegasAConfig::default()),
            Algorithm::Muzha => Box::new(MuzhaConfig {}),
            Algorithm::Rbcc(config) => Box::new(config),
            Algorithm::Other(_, factory) => factory(),
            Algorithm::RoVegas { deployment } => Box::new(RoVegasConfig {
                deployment,
                ..RoVegasConfig::default()
            }),
        }
    }
}

/// A sender, a receiver, and what is on the way between them.
struct World {
    now: Instant,
    sender: Connection,
    receiver: Connection,
    data: Vec<Segment>,
    acks: Vec<Segment>,
    window: u64,
}

fn pick<T>(items: &[T], index: usize) -> Option<usize> {
    (!items.is_empty()).then(|| index % items.len())
}

fn queued(mut segment: Segment, us: u32) -> Segment {
    if let Some(aqt) = &mut segment.aqt {
        aqt.time_us = (aqt.time_us + us).min(Aqt::MAX_US);
    }
    // A hop's other marks.
    if let Some(avbw) = segment.avbw.as_mut().filter(|_| us.is_multiple_of(3)) {
        avbw.drai = (us % 6) as u8 + 1;
    }
    if segment.ecn == Ecn::Ect0 && us.is_multiple_of(5) {
        segment.ecn = Ecn::Experienced;
    }
    segment
}

impl World {
    fn new(config: &Config, algorithm: Algorithm) -> Self {
        let mut world = World {
            now: Instant::from_micros(1),
            sender: Connection::new(config, &*algorithm.factory()),
            receiver: Connection::new(&config.peer(), &RenoConfig {}),
            data: Vec::new(),
            acks: Vec::new(),
            window: u64::from(config.window),
        };
        world.pump();
        world
    }

    fn pump(&mut self) {
        while let Some(segment) = self.sender.poll_transmit(self.now) {
            self.data.push(segment);
            assert!(self.data.len() < 100_000, "the sender never stops");
        }
        while let Some(segment) = self.receiver.poll_transmit(self.now) {
            assert_eq!(segment.payload, 0);
            self.acks.push(segment);
        }
    }

    fn apply(&mut self, operation: &Operation) {
        match *operation {
            Operation::Wait(us) => {
                let until = self.now + Duration::from_micros(us);
                self.now = until
                    .min(self.sender.poll_timeout().unwrap_or(until))
                    .max(self.now);
            }
            Operation::DeliverData(index, us) => {
                if let Some(index) = pick(&self.data, index) {
                    let segment = queued(self.data.remove(index), us);
                    self.receiver.handle_segment(self.now, &segment);
                }
            }
            Operation::DeliverAck(index, us) => {
                if let Some(index) = pick(&self.acks, index) {
                    let segment = queued(self.acks.remove(index), us);
                    self.sender.handle_segment(self.now, &segment);
                }
            }
            Operation::LoseData(index) => {
                pick(&self.data, index).map(|index| self.data.remove(index));
            }
            Operation::LoseAck(index) => {
                pick(&self.acks, index).map(|index| self.acks.remove(index));
            }
            Operation::CopyData(index) => {
                if let Some(index) = pick(&self.data, index) {
                    self.data.push(self.data[index]);
                }
            }
            Operation::StripAck(index) => {
                if let Some(index) = pick(&self.acks, index) {
                    self.acks[index].aqt = None;
                }
            }
            Operation::Timeout => {
                if let Some(at) = self.sender.poll_timeout() {
                    self.now = self.now.max(at);
                    self.sender.handle_timeout(self.now);
                }
            }
            Operation::ForgeAck(ack) => {
                // Beyond anything sent in such a history, so that it equals no true one.
                let ack = 0x4000_0000 + ack % 0x3000_0000;
                let forged = self.acks.first().copied().unwrap_or_default();
                self.sender.handle_segment(
                    self.now,
                    &Segment {
                        ack,
                        payload: 0,
                        ..forged
                    },
                );
            }
        }
        self.pump();
    }

    fn check(&self) {
        let state = self.sender.snapshot();
        assert!(state.cwnd.is_finite() && state.cwnd >= 0.0, "{state:?}");
        assert!(state.ssthresh >= 2.0, "{state:?}");
        assert!(
            self.sender.in_flight() <= self.window + 1,
            "more in flight than the receiver allows"
        );
        let armed = self.sender.poll_timeout().is_some();
        assert!(
            armed || self.sender.is_finished(),
            "nothing would ever wake the sender"
        );
    }

    /// The network heals: everything arrives, in order. Vegas with ns-2's defect sends each segment some fifty times after
    /// a few long timeouts.
    fn heal(&mut self) {
        for _ in 0..100_000 {
            if self.sender.is_finished() {
                return;
            }
            let operation = match (self.data.is_empty(), self.acks.is_empty()) {
                (false, _) => Operation::DeliverData(0, 0),
                (true, false) => Operation::DeliverAck(0, 0),
                (true, true) => Operation::Timeout,
            };
            self.now += Duration::from_micros(1000);
            self.apply(&operation);
            self.check();
        }
        panic!(
            "stalled: {:?}, {:?}",
            self.sender.stats(),
            self.sender.snapshot()
        );
    }

    fn digest(&self) -> (Stats, String, Option<Instant>, usize) {
        let state = format!("{:?}", self.sender.snapshot());
        (
            self.sender.stats(),
            state,
            self.sender.poll_timeout(),
            self.data.len(),
        )
    }
}

fn config(algorithm: Algorithm, aqt: bool, bugfix: bool, limited_transmit: bool) -> Config {
    Config {
        window: 40,
        supply: Supply::Segments(300),
        // Sequence numbers wrap in the middle of the history.
        local_start: u32::MAX - 100_000,
        aqt,
        avbw: true,
        ci: true,
        timestamps: true,
        clock: Clock {
            start_us: u32::MAX - 1_000_000,
            rate: 1.0001,
        },
        bugfix,
        limited_transmit,
        ..Config::stock(algorithm.recovery())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_history_is_survived_and_repeatable(
        history in operations(),
        which in 0..Algorithm::ALL.len(),
        aqt in any::<bool>(),
        bugfix in any::<bool>(),
        limited in any::<bool>(),
        syn in any::<bool>(),
    ) {
        let algorithm = Algorithm::ALL[which];
        let config = Config {
            syn,
            ..config(algorithm, aqt, bugfix, limited)
        };
        let mut worlds = [World::new(&config, algorithm), World::new(&config, algorithm)];
        for operation in &history {
            for world in &mut worlds {
                world.apply(operation);
                world.check();
            }
        }
        prop_assert_eq!(worlds[0].digest(), worlds[1].digest());
        let [mut world, _] = worlds;
        world.heal();
        let stats = world.sender.stats();
        let opening = u64::from(syn && algorithm.recovery() != Recovery::Vegas);
        prop_assert_eq!(stats.acked, 300 + opening);
        prop_assert_eq!(stats.sent - stats.resent, 300 + opening);
        let payload = u64::from(config.payload());
        prop_assert_eq!(world.receiver.stats().delivered_octets, 300 * payload);
    }
}
