//! The ends of a TCP flow: two connections, and the addresses of their packets.

use crate::losses::Losses;
use crate::record::FlowRecord;
use crate::scenario::{self, Control, ControlName, HostClock, RecoveryName, ScenarioError};
use crate::simulation::Controls;
use crate::trace::Tracer;
use congestion::rbcc::Threshold;
use congestion::vegas::Quirks;
use congestion::{
    Deployment, EnhancedVegasConfig, Factory, MuzhaConfig, QuickVegasConfig, RbccConfig,
    RedVegasConfig, RenoConfig, RoVegasConfig, TahoeConfig, VegasAConfig, VegasConfig,
};
use transport::tcp::{Clock, Config, Connection, Recovery, RtoConfig, Sizes, Supply};
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
    /// The earliest timer event scheduled for it.
    pub wake: Option<Instant>,
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
            wake: None,
        }
    }
}

/// The connections at both ends of a checked flow, with the clocks of their hosts. Only the sender's has a window to control.
///
/// # Errors
/// At `path`: a custom control that is not among `controls`.
pub(crate) fn connections(
    flow: &scenario::Flow,
    [sender, receiver]: [HostClock; 2],
    controls: &Controls,
    path: &str,
) -> Result<(Connection, Connection), ScenarioError> {
    let config = Config {
        clock: clock(sender),
        ..config(flow)
    };
    let peer = Config {
        clock: clock(receiver),
        ..config.peer()
    };
    let algorithm: Box<dyn Factory> = match &flow.control.custom {
        Some(custom) => match controls.get(&custom.factory) {
            Some(factory) => Box::new(factory.clone()),
            None => return Err(missing(path, &custom.factory, controls)),
        },
        None => algorithm(flow),
    };
    Ok((
        Connection::new(&config, algorithm.as_ref()),
        Connection::new(&peer, &RenoConfig {}),
    ))
}

fn missing(path: &str, factory: &str, controls: &Controls) -> ScenarioError {
    let valid: Vec<&str> = controls.keys().map(String::as_str).collect();
    let valid = match valid.as_slice() {
        [] => "there are none".to_owned(),
        _ => format!("controls are {}", valid.join(", ")),
    };
    let message = format!("no control {factory:?} was handed in; {valid}");
    ScenarioError::new(format!("{path}.control.custom.factory"), message)
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
    flow.aqt
        .unwrap_or(flow.control.name == ControlName::RoVegas)
}

/// Where a flow's data is lost, if its congestion control judges that.
pub(crate) fn losses(flow: &scenario::Flow) -> Option<Losses> {
    (flow.control.name == ControlName::RedVegas).then(Losses::default)
}

/// Whether a flow's data is marked capable of congestion indication.
pub(crate) fn carries_ci(flow: &scenario::Flow) -> bool {
    flow.ci || flow.control.name == ControlName::RedVegas
}

fn config(flow: &scenario::Flow) -> Config {
    let recovery = match flow.control.name {
        ControlName::Tahoe => Recovery::Tahoe,
        ControlName::Reno => Recovery::Reno,
        ControlName::NewReno => Recovery::NewReno,
        ControlName::Sack => Recovery::Sack,
        ControlName::Fack => Recovery::Fack,
        ControlName::Muzha => Recovery::Reno,
        ControlName::Rbcc | ControlName::RbccWl => Recovery::NewReno,
        ControlName::Vegas
        | ControlName::RoVegas
        | ControlName::EnhancedVegas
        | ControlName::QuickVegas
        | ControlName::RedVegas
        | ControlName::VegasA => Recovery::Vegas,
        ControlName::Custom => custom_recovery(&flow.control),
    };
    let p = &flow.profile;
    let seconds = Duration::from_secs_f64;
    Config {
        window: p.window,
        initial_window: p.initial_window,
        max_cwnd: p.max_cwnd,
        rto: RtoConfig {
            tick: seconds(p.tick_s),
            phase: seconds(p.phase_s),
            initial: seconds(p.initial_rto_s),
            min: seconds(p.min_rto_s),
            rfc2988: p.rfc2988,
            ..RtoConfig::STOCK
        },
        limited_transmit: p.limited_transmit,
        bugfix: p.bugfix,
        stale_send_counts: p.stale_send_counts,
        sizes: Sizes {
            data_octets: p.packet_octets,
            ack_octets: p.ack_octets,
        },
        aqt: carries_aqt(flow),
        avbw: flow.avbw.unwrap_or(flow.control.name == ControlName::Muzha),
        ci: carries_ci(flow),
        timestamps: flow.timestamps.unwrap_or(matches!(
            flow.control.name,
            ControlName::Fack
                | ControlName::EnhancedVegas
                | ControlName::Rbcc
                | ControlName::RbccWl
        )),
        supply: flow.segments.map_or(Supply::Endless, Supply::Segments),
        trace: flow.trace,
        ..Config::stock(recovery)
    }
}

fn custom_recovery(control: &Control) -> Recovery {
    let name = control.custom.as_ref().map(|custom| custom.recovery);
    match name.unwrap_or(RecoveryName::NewReno) {
        RecoveryName::Tahoe => Recovery::Tahoe,
        RecoveryName::Reno => Recovery::Reno,
        RecoveryName::NewReno => Recovery::NewReno,
        RecoveryName::Sack => Recovery::Sack,
        RecoveryName::Fack => Recovery::Fack,
        RecoveryName::Vegas => Recovery::Vegas,
    }
}

fn algorithm(flow: &scenario::Flow) -> Box<dyn Factory> {
    let c = &flow.control;
    let stock = match c.name {
        ControlName::QuickVegas => QuickVegasConfig::default().vegas,
        _ => VegasConfig::default(),
    };
    let vegas = VegasConfig {
        alpha: c.alpha.unwrap_or(stock.alpha),
        beta: c.beta.unwrap_or(stock.beta),
        gamma: c.gamma.unwrap_or(stock.gamma),
        quirks: match flow.profile.phantom_rtt {
            true => Quirks::NS2_FAITHFUL,
            false => Quirks::NS2,
        },
    };
    let threshold = c.threshold_rtt_s.map_or(Threshold::Dynamic, |threshold| {
        Threshold::Static(Duration::from_secs_f64(threshold))
    });
    match c.name {
        ControlName::EnhancedVegas => Box::new(EnhancedVegasConfig {
            vegas,
            skew_correction: c.skew_correction.unwrap_or(true),
        }),
        ControlName::QuickVegas => Box::new(QuickVegasConfig { vegas }),
        ControlName::RedVegas => Box::new(RedVegasConfig { vegas }),
        ControlName::VegasA => Box::new(VegasAConfig { vegas }),
        ControlName::Muzha => Box::new(MuzhaConfig {}),
        ControlName::Rbcc => Box::new(RbccConfig::wired(threshold)),
        ControlName::RbccWl => Box::new(RbccConfig::wireless(threshold)),
        ControlName::Reno | ControlName::NewReno | ControlName::Sack => Box::new(RenoConfig {}),
        ControlName::Tahoe | ControlName::Fack => Box::new(TahoeConfig {}),
        ControlName::Custom => unreachable!("a checked flow's custom control is handed in"),
        ControlName::Vegas => Box::new(vegas),
        ControlName::RoVegas => Box::new(RoVegasConfig {
            vegas,
            deployment: match c.full_deployment {
                Some(false) => Deployment::Gradual,
                _ => Deployment::Full,
            },
        }),
    }
}
