//! Congestion controls, one file each. They receive events and never see octets.
//!
//! | file | content |
//! | --- | --- |
//! | [`event`] | the events that a controller receives: acknowledgements with feedback marks, losses, timeouts |
//! | [`telemetry`] | the records of the hops of a path (INT) |
//! | [`controller`] | the [`Controller`] trait, its [`Factory`], [`Limits`] and [`Snapshot`] |
//! | [`registry`] | the descriptor that each control's file declares: name, loss recovery, marks, settings |
//! | [`CONTROLS`] | the controls, each in one file |
//! | [`sctp`] | SCTP's controls: the standard window, RBCA, and SPC, which switches the path |
//!
//! Windows are in segments, SCTP's in octets. Nothing here reads a clock, depends on a packet format, or draws random
//! numbers.

pub mod bbr;
pub mod bbr3;
pub mod card;
pub mod controller;
pub mod cubic;
pub mod dctcp;
mod delivery_rounds;
pub mod dual;
pub mod enhanced_vegas;
pub mod event;
pub mod fack;
pub mod fast;
pub mod highspeed;
mod history;
pub mod host_link;
pub mod hpcc;
mod marked_share;
mod max_filter;
pub mod muzha;
pub mod nscc;
pub mod powertcp;
pub mod prague;
pub mod quick_vegas;
mod ramp_up;
pub mod rbcc;
pub mod red_vegas;
pub mod registry;
pub mod reno;
pub mod rerouting_vegas;
mod round;
pub mod rovegas;
mod rtt;
pub mod santa_cruz;
#[cfg(test)]
mod sawtooth;
pub mod scalable;
pub mod sctp;
pub mod swift;
pub mod tahoe;
pub mod telemetry;
pub mod theta_powertcp;
pub mod tri_s;
pub mod vegas;
pub mod vegas_a;
pub mod vegas_plus;
pub mod waymark;
pub mod westwood;
pub mod zhang_tsaoussidis;

pub use bbr::BbrConfig;
pub use bbr3::Bbr3Config;
pub use card::CardConfig;
pub use controller::{Controller, Factory, Limits, Phase, Snapshot, Verdicts};
pub use cubic::CubicConfig;
pub use dctcp::DctcpConfig;
pub use dual::DualConfig;
pub use enhanced_vegas::EnhancedVegasConfig;
pub use event::{
    AckEvent, Evidence, LossEvent, MarkValues, PathSignal, QueueingTime, RateSample, TimeoutEvent,
    TrimEvent,
};
pub use fast::FastConfig;
pub use highspeed::HighSpeedConfig;
pub use host_link::HostLinkConfig;
pub use hpcc::HpccConfig;
pub use muzha::MuzhaConfig;
pub use nscc::NsccConfig;
pub use powertcp::PowerTcpConfig;
pub use prague::PragueConfig;
pub use quick_vegas::QuickVegasConfig;
pub use rbcc::RbccConfig;
pub use red_vegas::RedVegasConfig;
pub use registry::{Control, Mark, Need, Recovery, Rules, Settings};
pub use reno::{ExactRenoConfig, RenoConfig};
pub use rerouting_vegas::ReroutingVegasConfig;
pub use rovegas::{Deployment, RoVegasConfig};
pub use santa_cruz::SantaCruzConfig;
pub use scalable::ScalableConfig;
pub use swift::SwiftConfig;
pub use tahoe::TahoeConfig;
pub use telemetry::{HopRecord, PathRecord};
pub use theta_powertcp::ThetaPowerTcpConfig;
pub use tri_s::TriSConfig;
pub use vegas::VegasConfig;
pub use vegas_a::VegasAConfig;
pub use vegas_plus::VegasPlusConfig;
pub use waymark::WaymarkConfig;
pub use westwood::WestwoodConfig;
pub use zhang_tsaoussidis::ZhangTsaoussidisConfig;

/// The congestion controls, in the order of `docs/controls.md`.
pub static CONTROLS: &[&Control] = &[
    &tahoe::TAHOE,
    &reno::RENO,
    &reno::NEWRENO,
    &reno::SACK,
    &fack::FACK,
    &vegas::VEGAS,
    &rovegas::ROVEGAS,
    &enhanced_vegas::ENHANCED_VEGAS,
    &quick_vegas::QUICK_VEGAS,
    &red_vegas::RED_VEGAS,
    &waymark::WAYMARK,
    &vegas_a::VEGAS_A,
    &vegas_plus::VEGAS_PLUS,
    &rerouting_vegas::REROUTING_VEGAS,
    &card::CARD,
    &dual::DUAL,
    &tri_s::TRI_S,
    &santa_cruz::SANTA_CRUZ,
    &zhang_tsaoussidis::ZHANG_TSAOUSSIDIS,
    &fast::FAST,
    &westwood::WESTWOOD,
    &westwood::WESTWOOD_PLUS,
    &highspeed::HIGHSPEED,
    &scalable::SCALABLE,
    &cubic::CUBIC,
    &dctcp::DCTCP,
    &bbr::BBR,
    &bbr3::BBR3,
    &muzha::MUZHA,
    &rbcc::RBCC,
    &rbcc::RBCC_WL,
    &prague::PRAGUE,
    &swift::SWIFT,
    &swift::SWIFT_AQT,
    &swift::SWIFT_TCP_INT,
    &swift::SWIFT_CSIG,
    &theta_powertcp::THETA_POWERTCP,
    &powertcp::POWERTCP,
    &hpcc::HPCC,
    &nscc::NSCC,
];

/// Looks up a control by name.
pub fn find(name: &str) -> Option<&'static Control> {
    CONTROLS
        .iter()
        .find(|control| control.name == name)
        .copied()
}
