//! The ends of a TCP flow: two connections, and the addresses of their packets.

use crate::connection::Connection;
use crate::event::Turn;
use crate::losses::Losses;
use crate::record::FlowRecord;
use crate::scenario::{self, HostClock, Profile, ScenarioError};
use crate::trace::Tracer;
use congestion::{Factory, Mark, RenoConfig};
use std::sync::Arc;
use tcp_settings::Controls;
use transport::tcp::{self, Clock, Config, Supply, modern};
use transport::wire;
use units::Instant;

/// Port numbers are this plus the flow's or source's number.
pub(crate) const FIRST_PORT: u16 = 1024;

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
}

/// One end.
#[derive(Debug)]
pub(crate) struct End {
    pub connection: Connection,
    pub host: usize,
    /// The addresses of what it sends.
    pub addresses: wire::Flow,
    /// When its timer runs out, and the turn of the event of that.
    pub timer: Option<(Instant, Turn)>,
    /// The earliest timer event scheduled for it.
    pub wake: Option<Turn>,
    /// A sender's: where its data was lost, if its congestion control judges that.
    pub losses: Option<Losses>,
    /// A sender's, where the scenario asks for a trace.
    pub tracer: Option<Tracer>,
}

impl Side {
    /// The number of this end of a flow among the ends of all.
    pub fn end(self, flow: usize) -> usize {
        2 * flow + usize::from(self == Side::Receiver)
    }
}

impl End {
    pub fn new(connection: Connection, host: usize, addresses: wire::Flow) -> Self {
        End {
            connection,
            host,
            addresses,
            timer: None,
            wake: None,
            losses: None,
            tracer: None,
        }
    }

    /// The flow's record, with what its sender has in its trace.
    pub fn finish(self, record: FlowRecord) -> FlowRecord {
        FlowRecord {
            trace: self.tracer.map(Tracer::finish),
            judged: self.losses.map(|losses| losses.judged),
            ..record
        }
    }
}

/// The connections at both ends of a checked flow, with the clocks of their hosts. Only the sender's
/// has a window to control. `starts` are the sequence numbers of SYNs, where there are any.
///
/// # Errors
/// At `path`: a custom control that is not among `controls`.
pub(crate) fn connections(
    flow: &scenario::Flow,
    clocks: [HostClock; 2],
    controls: &Controls,
    path: &str,
    starts: [u32; 2],
) -> Result<(Connection, Connection), ScenarioError> {
    let settings = &flow.connection;
    let algorithm = settings.factory(controls, &format!("{path}.connection"))?;
    Ok(match &settings.profile {
        Profile::Ns2(profile) => {
            let config = settings.ns2(profile);
            let (sender, receiver) = ns2_connections(flow, config, &algorithm, clocks);
            let ns2 = |connection| Connection::Ns2(Box::new(connection));
            (ns2(sender), ns2(receiver))
        }
        Profile::Modern(profile) => {
            let config = settings.modern(profile);
            let (sender, receiver) = modern_connections(flow, config, &algorithm, clocks, starts);
            let modern = |connection| Connection::Modern(Box::new(connection));
            (modern(sender), modern(receiver))
        }
    })
}

fn ns2_connections(
    flow: &scenario::Flow,
    config: Config,
    algorithm: &Arc<dyn Factory>,
    [sender, receiver]: [HostClock; 2],
) -> (tcp::Connection, tcp::Connection) {
    let config = Config {
        clock: clock(sender),
        supply: flow.segments.map_or(Supply::Endless, Supply::Segments),
        trace: flow.trace,
        ..config
    };
    let peer = Config {
        clock: clock(receiver),
        ..config.peer()
    };
    (
        tcp::Connection::new(&config, algorithm),
        tcp::Connection::new(&peer, &RenoConfig {}),
    )
}

fn modern_connections(
    flow: &scenario::Flow,
    config: modern::Config,
    algorithm: &Arc<dyn Factory>,
    [sender, receiver]: [HostClock; 2],
    starts: [u32; 2],
) -> (modern::Connection, modern::Connection) {
    let config = modern::Config {
        clock: clock(sender),
        elided: true,
        trace: flow.trace,
        ..config
    };
    let octets = flow.segments.map_or(u64::MAX, |segments| {
        let mss = config.advertised_mss();
        segments.saturating_mul(u64::from(config.payload(mss, true)))
    });
    let passive = modern::Config {
        clock: clock(receiver),
        trace: false,
        ..config.clone()
    };
    let mut sender = modern::Connection::connect(Arc::new(config), algorithm, starts[0]);
    let receiver = modern::Connection::listen(Arc::new(passive), &RenoConfig {}, starts[1]);
    sender
        .write_zeros(octets)
        .expect("a new connection's stream is open");
    if flow.segments.is_some() {
        sender.close();
    }
    (sender, receiver)
}

fn clock(host: HostClock) -> Clock {
    Clock {
        // Microseconds that wrap, below zero as well.
        start_us: (host.offset_s * 1e6).round() as i64 as u32,
        rate: 1.0 + host.skew_ppm * 1e-6,
    }
}

/// Where a flow's data is lost, if its congestion control judges that.
pub(crate) fn losses(flow: &scenario::Flow) -> Option<Losses> {
    flow.connection
        .control
        .reads(Mark::Ci)
        .then(Losses::default)
}
