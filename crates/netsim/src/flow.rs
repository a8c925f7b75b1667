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
    /// Where the data comes from.
    Sender,
    /// Where it is acknowledged.
    Receiver,
}

/// What a TCP flow is, known wherever its packets come.
#[derive(Debug)]
pub(crate) struct Flow {
    pub name: String,
    /// The host of its sender.
    pub from: usize,
    /// The host of its receiver.
    pub to: usize,
    /// Its packets carry the AQT option.
    pub aqt: bool,
    /// Data is marked capable of congestion indication.
    pub ci: bool,
    /// Its congestion control judges where data was lost.
    pub judges: bool,
    /// The addresses of what its sender sends, and its receiver.
    pub addresses: [wire::Flow; 2],
    pub opening: Opening,
}

/// What the connections of a flow are made from when it begins.
#[derive(Debug)]
pub(crate) struct Opening {
    settings: Arc<Settings>,
    algorithm: Arc<dyn Factory>,
    clocks: [HostClock; 2],
    /// Of the line that data leaves by.
    line_rate_bps: Option<u64>,
    /// Sequence numbers of SYNs, where there are any.
    starts: [u32; 2],
    /// Packets of data to send; unset: without end.
    segments: Option<u64>,
    /// Which changes of the sender's state are kept; unset: none.
    trace: Option<Keep>,
}

/// What there is of a flow at one of its hosts.
#[derive(Debug)]
pub(crate) enum Slot {
    /// Nothing has happened yet.
    Unopened,
    /// A connection.
    Open(Box<End>),
    /// The connection is closed, and nothing of it is needed any more.
    Over,
}

/// One end.
#[derive(Debug)]
pub(crate) struct End {
    pub connection: Connection,
    /// When its timer runs out, and the turn of the event of that.
    pub timer: Option<(Instant, Turn)>,
    /// The earliest timer event scheduled for it.
    pub wake: Option<Turn>,
    /// A sender's: where its data was lost, if its congestion control judges that.
    pub losses: Option<Losses>,
    /// A sender's, where the scenario asks for a trace.
    pub tracer: Option<Tracer>,
}

impl Slot {
    /// The end, if it is open.
    pub fn open(&mut self) -> Option<&mut End> {
        match self {
            Slot::Open(end) => Some(end),
            Slot::Unopened | Slot::Over => None,
        }
    }
}

impl Side {
    /// The number of this end of a flow among the ends of all.
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

    /// The addresses of what an end sends.
    pub fn addresses(&self, side: Side) -> wire::Flow {
        self.addresses[usize::from(side == Side::Receiver)]
    }

    /// A new end.
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

    /// Whether nothing of it is needed for the flow's record.
    pub fn is_recorded(&self) -> bool {
        self.losses.is_none() && self.tracer.is_none()
    }

    /// The flow's record, with what its sender has in its trace.
    pub fn finish(self, record: FlowRecord) -> FlowRecord {
        FlowRecord {
            trace: self.tracer.map(|tracer| Box::new(tracer.finish())),
            judged: self.losses.map(|losses| losses.judged),
            ..record
        }
    }
}

/// The connections at both ends of a flow, with the clocks of their hosts. Only the sender's has a window to control.
impl Opening {
    /// Of a checked flow between hosts with these clocks, the sender's on a line with `line_rate_bps`; `algorithm` makes its
    /// congestion control.
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

    /// What makes its congestion control.
    pub fn algorithm(&self) -> Arc<dyn Factory> {
        self.algorithm.clone()
    }

    /// Whether it is to be opened when the run begins, and not when its flow does: the caller's controls are made
    /// in the order of the flows, and a trace can be asked for at any time.
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
        // Microseconds that wrap, below zero as well.
        start_us: (host.offset_s * 1e6).round() as i64 as u32,
        rate: 1.0 + host.skew_ppm * 1e-6,
    }
}
