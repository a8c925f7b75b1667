//! The ends of a TCP flow: two connections, and the addresses of their packets.

use crate::connection::Connection;
use crate::event::Turn;
use crate::losses::Losses;
use crate::record::FlowRecord;
use crate::scenario::{self, Control, HostClock, Profile};
use crate::trace::{Keep, Tracer};
use congestion::{Factory, RenoConfig};
use std::sync::Arc;
use tcp_settings::Settings;
use transport::tcp::{self, Clock, Config, Supply, modern};
use transport::wire;
use units::{Duration, Instant};

/// An end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The end that sends data.
    Sender,
    /// The end that acknowledges data.
    Receiver,
}

/// The properties of a TCP flow that are needed wherever its packets arrive.
#[derive(Debug)]
pub(crate) struct Flow {
    pub name: String,
    /// The host of its sender.
    pub from: usize,
    /// The host of its receiver.
    pub to: usize,
    /// Whether its packets carry the AQT option.
    pub aqt: bool,
    /// Whether data packets are marked as capable of congestion indication.
    pub ci: bool,
    /// Whether its congestion control classifies where data was lost.
    pub judges: bool,
    /// The addresses of packets from its sender, and from its receiver.
    pub addresses: [wire::Flow; 2],
    pub opening: Opening,
}

/// Creates the connections of a flow when it begins.
#[derive(Debug)]
pub(crate) struct Opening {
    settings: Arc<Settings>,
    algorithm: Arc<dyn Factory>,
    clocks: [HostClock; 2],
    /// The rate of the line through which data leaves.
    line_rate_bps: Option<u64>,
    /// The initial sequence numbers, in profiles with SYNs.
    starts: [u32; 2],
    /// Packets of data to send. `None` means unlimited.
    segments: Option<u64>,
    /// Which changes of the sender's state are recorded. `None` means none.
    trace: Option<Keep>,
}

/// The state of a flow at one of its hosts.
#[derive(Debug)]
pub(crate) enum Slot {
    /// Nothing has happened yet.
    Unopened,
    /// A connection.
    Open(Box<End>),
    /// The connection is closed and no longer needed.
    Over,
}

/// One end.
#[derive(Debug)]
pub(crate) struct End {
    pub connection: Connection,
    /// When its timer expires, and the turn of the timer's event.
    pub timer: Option<(Instant, Turn)>,
    /// The earliest timer event scheduled for it.
    pub wake: Option<Turn>,
    /// For a sender: where its data was lost, if its congestion control classifies that.
    pub losses: Option<Losses>,
    /// For a sender: its trace, if the scenario requests one.
    pub tracer: Option<Tracer>,
}

impl Slot {
    /// Returns the end, if it is open.
    pub fn open(&mut self) -> Option<&mut End> {
        match self {
            Slot::Open(end) => Some(end),
            Slot::Unopened | Slot::Over => None,
        }
    }
}

impl Side {
    /// The index of this end of a flow among the ends of all flows.
    pub fn end(self, flow: usize) -> usize {
        2 * flow + usize::from(self == Side::Receiver)
    }
}

impl Flow {
    /// The host of an end.
    pub fn host(&self, side: Side) -> usize {
        match side {
            Side::Sender => self.from,
            Side::Receiver => self.to,
        }
    }

    /// The addresses of packets that an end sends.
    pub fn addresses(&self, side: Side) -> wire::Flow {
        self.addresses[usize::from(side == Side::Receiver)]
    }

    /// Creates an end.
    pub fn end(&self, side: Side) -> End {
        let opening = &self.opening;
        match side {
            Side::Sender => End {
                losses: self.judges.then(Losses::default),
                tracer: opening.trace.map(Tracer::new),
                ..End::new(opening.sender())
            },
            Side::Receiver => End::new(opening.receiver()),
        }
    }
}

impl End {
    fn new(connection: Connection) -> Self {
        End {
            connection,
            timer: None,
            wake: None,
            losses: None,
            tracer: None,
        }
    }

    /// Whether the flow's record needs nothing more from it.
    pub fn is_recorded(&self) -> bool {
        self.losses.is_none() && self.tracer.is_none()
    }

    /// Adds the sender's trace to the flow's record.
    pub fn finish(self, record: FlowRecord) -> FlowRecord {
        FlowRecord {
            trace: self.tracer.map(|tracer| Box::new(tracer.finish())),
            judged: self.losses.map(|losses| losses.judged),
            ..record
        }
    }
}

/// Creates the connections at both ends of a flow, with the clocks of their hosts. Only the sender's has congestion
/// control.
impl Opening {
    /// For a checked flow between hosts with these clocks. The sender's line has the rate `line_rate_bps`; `algorithm`
    /// creates the congestion control.
    pub fn new(
        flow: &scenario::Flow,
        clocks: [HostClock; 2],
        line_rate_bps: Option<u64>,
        algorithm: Arc<dyn Factory>,
        starts: [u32; 2],
    ) -> Self {
        Opening {
            line_rate_bps,
            algorithm,
            settings: flow.connection.clone(),
            clocks,
            starts,
            segments: flow.segments,
            trace: flow.trace.then(|| flow.tracing.keep()),
        }
    }

    /// Creates its congestion control.
    pub fn algorithm(&self) -> Arc<dyn Factory> {
        self.algorithm.clone()
    }

    /// Whether it must be opened when the run begins rather than when its flow does: congestion controls of the caller
    /// are created in the order of the flows, and a trace can be requested at any time.
    pub fn is_early(&self) -> bool {
        matches!(self.settings.control, Control::Custom(_)) || self.trace.is_some()
    }

    fn sender(&self) -> Connection {
        let clock = clock(self.clocks[0]);
        let trace = self.trace.is_some();
        match &self.settings.profile {
            Profile::Ns2(profile) => {
                let config = Config {
                    clock,
                    supply: self.segments.map_or(Supply::Endless, Supply::Segments),
                    trace,
                    ..self.settings.ns2(profile)
                };
                Connection::Ns2(Box::new(tcp::Connection::new(&config, &self.algorithm)))
            }
            Profile::Modern(profile) => {
                let config = self.settings.modern(profile);
                let config = modern::Config {
                    clock,
                    elided: true,
                    late_timers: Duration::ZERO,
                    peer_delayed_ack: config.delayed_ack.unwrap_or(Duration::ZERO),
                    line_rate_bps: self.line_rate_bps,
                    trace,
                    ..config
                };
                let octets = self.segments.map_or(u64::MAX, |segments| {
                    let mss = config.advertised_mss();
                    segments.saturating_mul(u64::from(config.payload(mss, true)))
                });
                let start = self.starts[0];
                let mut sender =
                    modern::Connection::connect(Arc::new(config), &self.algorithm, start);
                sender
                    .write_zeros(octets)
                    .expect("a new connection's stream is open");
                if self.segments.is_some() {
                    sender.close();
                }
                Connection::Modern(Box::new(sender))
            }
        }
    }

    fn receiver(&self) -> Connection {
        let clock = clock(self.clocks[1]);
        let algorithm = RenoConfig {};
        match &self.settings.profile {
            Profile::Ns2(profile) => {
                let config = Config {
                    clock,
                    ..self.settings.ns2(profile).peer()
                };
                Connection::Ns2(Box::new(tcp::Connection::new(&config, &algorithm)))
            }
            Profile::Modern(profile) => {
                let config = modern::Config {
                    clock,
                    elided: true,
                    ..self.settings.modern(profile)
                };
                let start = self.starts[1];
                let receiver = modern::Connection::listen(Arc::new(config), &algorithm, start);
                Connection::Modern(Box::new(receiver))
            }
        }
    }
}

fn clock(host: HostClock) -> Clock {
    Clock {
        // Microseconds, which wrap around, also below zero.
        start_us: (host.offset_s * 1e6).round() as i64 as u32,
        rate: 1.0 + host.skew_ppm * 1e-6,
    }
}
