//! The ends of a TCP flow: two connections, and the addresses of their packets.

use crate::connection::Connection;
use crate::event::Turn;
use crate::losses::Losses;
use crate::record::FlowRecord;
use crate::scenario::{self, Control, EcnName, HostClock, ProfileKind, ScenarioError};
use crate::simulation::Controls;
use crate::trace::Tracer;
use congestion::{Factory, Mark, Need, RenoConfig, Rules};
use std::sync::Arc;
use transport::tcp::{
    self, Aqt, Avbw, Clock, Config, Marks, RtoConfig, Segment, Sizes, Supply, modern,
};
use transport::wire;
use units::{Duration, Instant};

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

/// A TCP flow.
#[derive(Debug)]
pub(crate) struct Flow {
    pub name: String,
    pub sender: End,
    pub receiver: End,
    /// Its packets carry the AQT option.
    pub aqt: bool,
    /// Data is marked capable of congestion indication.
    pub ci: bool,
    /// Where its data was lost, if its congestion control judges that.
    pub losses: Option<Losses>,
    pub record: FlowRecord,
    /// Where the scenario asks for a trace.
    pub tracer: Option<Tracer>,
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
}

impl Flow {
    /// The end on one side.
    pub fn end(&mut self, side: Side) -> &mut End {
        match side {
            Side::Sender => &mut self.sender,
            Side::Receiver => &mut self.receiver,
        }
    }

    /// Its name and its record, the trace in it.
    pub fn finish(self) -> (String, FlowRecord) {
        let trace = self.tracer.map(Tracer::finish);
        let judged = self.losses.map(|losses| losses.judged);
        (
            self.name,
            FlowRecord {
                trace,
                judged,
                ..self.record
            },
        )
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
    [sender, receiver]: [HostClock; 2],
    controls: &Controls,
    path: &str,
    starts: [u32; 2],
) -> Result<(Connection, Connection), ScenarioError> {
    if flow.profile.kind == ProfileKind::Ns2 {
        let (sender, receiver) = ns2_connections(flow, [sender, receiver], controls, path)?;
        let ns2 = |connection| Connection::Ns2(Box::new(connection));
        return Ok((ns2(sender), ns2(receiver)));
    }
    let config = modern::Config {
        clock: clock(sender),
        ..modern_config(flow)
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
    let algorithm = control(flow, controls, path)?;
    let mut sender = modern::Connection::connect(Arc::new(config), &algorithm, starts[0]);
    let receiver = modern::Connection::listen(Arc::new(passive), &RenoConfig {}, starts[1]);
    sender
        .write_zeros(octets)
        .expect("a new connection's stream is open");
    if flow.segments.is_some() {
        sender.close();
    }
    let modern = |connection| Connection::Modern(Box::new(connection));
    Ok((modern(sender), modern(receiver)))
}

/// As [`connections`], of a flow in the ns-2 profile.
pub(crate) fn ns2_connections(
    flow: &scenario::Flow,
    [sender, receiver]: [HostClock; 2],
    controls: &Controls,
    path: &str,
) -> Result<(tcp::Connection, tcp::Connection), ScenarioError> {
    let config = Config {
        clock: clock(sender),
        ..config(flow)
    };
    let peer = Config {
        clock: clock(receiver),
        ..config.peer()
    };
    let algorithm = control(flow, controls, path)?;
    Ok((
        tcp::Connection::new(&config, &algorithm),
        tcp::Connection::new(&peer, &RenoConfig {}),
    ))
}

/// What a flow (JSON) in the modern profile comes to on an interface: the settings of its connections,
/// and what controls their windows. Its hosts are not looked at.
///
/// # Errors
/// As [`scenario::Scenario::from_json`] of such a flow; or it is of another profile.
pub fn settings(json: &str) -> Result<(modern::Config, Arc<dyn Factory>), ScenarioError> {
    let flow: scenario::Flow = scenario::read(json)?;
    scenario::check_settings("flow", &flow)?;
    if flow.profile.kind != ProfileKind::Modern {
        let message = "hosts on interfaces have the modern profile";
        return Err(ScenarioError::new("flow.profile.kind", message));
    }
    let config = modern::Config {
        elided: false,
        ..modern_config(&flow)
    };
    Ok((config, control(&flow, &Controls::new(), "flow")?))
}

/// What makes the flow's congestion control, a compiled one or one that is handed in.
fn control(
    flow: &scenario::Flow,
    controls: &Controls,
    path: &str,
) -> Result<Arc<dyn Factory>, ScenarioError> {
    match &flow.control {
        Control::Compiled(settings) => Ok(settings.factory(rules(&flow.profile)).into()),
        Control::Custom(custom) => match controls.get(&custom.factory) {
            Some(factory) => Ok(factory.clone()),
            None => Err(missing(path, &custom.factory, controls)),
        },
    }
}

fn rules(profile: &scenario::Profile) -> Rules {
    Rules {
        modern: profile.kind == ProfileKind::Modern,
        phantom_rtt: profile.phantom_rtt,
        exact_halving: profile.exact_halving,
    }
}

fn missing(path: &str, factory: &str, controls: &Controls) -> ScenarioError {
    let valid: Vec<&str> = controls.keys().map(String::as_str).collect();
    let valid = match valid.as_slice() {
        [] => "there are none".to_owned(),
        _ => format!("controls are {}", valid.join(", ")),
    };
    let message = format!("no control {factory:?} was handed in; {valid}");
    ScenarioError::new(format!("{path}.control.factory"), message)
}

fn clock(host: HostClock) -> Clock {
    Clock {
        // Microseconds that wrap, below zero as well.
        start_us: (host.offset_s * 1e6).round() as i64 as u32,
        rate: 1.0 + host.skew_ppm * 1e-6,
    }
}

/// Whether a flow's packets carry the AQT option.
pub(crate) fn carries_aqt(flow: &scenario::Flow) -> bool {
    flow.aqt.unwrap_or(flow.control.reads(Mark::Aqt))
}

/// Where a flow's data is lost, if its congestion control judges that.
pub(crate) fn losses(flow: &scenario::Flow) -> Option<Losses> {
    flow.control.reads(Mark::Ci).then(Losses::default)
}

/// Whether a flow's data is marked capable of congestion indication.
pub(crate) fn carries_ci(flow: &scenario::Flow) -> bool {
    flow.ci || flow.control.reads(Mark::Ci)
}

fn carries_avbw(flow: &scenario::Flow) -> bool {
    flow.avbw.unwrap_or(flow.control.reads(Mark::Avbw))
}

/// Octets of the IPv4 options that a flow's packets carry.
///
/// # Errors
/// Its marks are not valid.
pub(crate) fn option_octets(flow: &scenario::Flow) -> Result<u32, tcp::MarkError> {
    let data = Segment {
        aqt: carries_aqt(flow).then_some(Aqt::default()),
        avbw: carries_avbw(flow).then_some(Avbw::UNWRITTEN),
        options: scenario::laid_out(&flow.marks)?.blank(),
        ..Segment::default()
    };
    Ok(data.feedback_octets())
}

fn marks(flow: &scenario::Flow) -> Marks {
    scenario::laid_out(&flow.marks).expect("a checked flow's marks are valid")
}

fn modern_config(flow: &scenario::Flow) -> modern::Config {
    let p = &flow.profile;
    let seconds = Duration::from_secs_f64;
    let stock = modern::Config::default();
    let mtu = u16::try_from(p.packet_octets).unwrap_or(u16::MAX);
    let ecn = match p.ecn {
        _ if carries_ci(flow) => modern::EcnMode::Indication,
        _ if flow.control.needs(Need::Ecn) => modern::EcnMode::Accurate,
        EcnName::Off => modern::EcnMode::Off,
        EcnName::Classic => modern::EcnMode::Classic,
        EcnName::Accurate => modern::EcnMode::Accurate,
    };
    let rto = modern::RtoBounds {
        initial: p.initial_rto_s.map_or(stock.rto.initial, seconds),
        min: seconds(p.min_rto_s).max(Duration::from_nanos(1)),
        ..stock.rto
    };
    modern::Config {
        mtu,
        initial_window: p.initial_window.unwrap_or(stock.initial_window),
        max_cwnd: p.max_cwnd,
        receive_buffer: p.window as usize * usize::from(mtu),
        rto: modern::RtoBounds {
            max: rto.max.max(rto.min).max(rto.initial),
            ..rto
        },
        delayed_ack: Some(seconds(p.delayed_ack_s))
            .filter(|delay| *delay > Duration::ZERO && !flow.control.needs(Need::PromptAcks)),
        timestamps: modern::Stamps::Micros,
        ecn,
        aqt: carries_aqt(flow),
        avbw: carries_avbw(flow),
        marks: marks(flow),
        pacing: p.pacing,
        elided: true,
        trace: flow.trace,
        ..stock
    }
}

fn config(flow: &scenario::Flow) -> Config {
    let p = &flow.profile;
    let seconds = Duration::from_secs_f64;
    Config {
        window: p.window,
        initial_window: p.initial_window.unwrap_or(2),
        max_cwnd: p.max_cwnd,
        rto: RtoConfig {
            tick: seconds(p.tick_s),
            phase: seconds(p.phase_s),
            initial: seconds(p.initial_rto_s.unwrap_or(3.0)),
            min: seconds(p.min_rto_s),
            rfc2988: p.rfc2988,
            ..RtoConfig::STOCK
        },
        limited_transmit: p.limited_transmit,
        bugfix: p.bugfix,
        syn: p.syn,
        stale_send_counts: p.stale_send_counts,
        floating_rtt: p.floating_rtt,
        sizes: Sizes {
            data_octets: p.packet_octets,
            ack_octets: p.ack_octets,
        },
        aqt: carries_aqt(flow),
        avbw: carries_avbw(flow),
        marks: marks(flow),
        ci: carries_ci(flow),
        timestamps: flow
            .timestamps
            .unwrap_or(flow.control.needs(Need::Timestamps)),
        supply: flow.segments.map_or(Supply::Endless, Supply::Segments),
        trace: flow.trace,
        ..Config::stock(flow.control.recovery())
    }
}
