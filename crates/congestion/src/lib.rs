//! Congestion controls, one file each; they see events, never octets.
//!
//! | file | what it holds |
//! | --- | --- |
//! | [`event`] | what a controller is told: acknowledgements with feedback marks, losses, timeouts |
//! | [`controller`] | the [`Controller`] trait, its [`Factory`], [`Limits`] and [`Snapshot`] |
//! | [`reno`] | additive increase, halving: shared by the Reno family's loss recoveries |
//! | [`tahoe`] | Reno's growth, and one segment after any loss |
//! | [`vegas`] | Vegas, and the round machinery that its variants share |
//! | [`rovegas`] | RoVegas: Vegas on propagation delays and forward queueing alone |
//! | [`enhanced_vegas`] | Enhanced Vegas: the same from timestamps, clock skew corrected |
//! | [`quick_vegas`] | Quick Vegas: faster on long fat paths |
//! | [`red_vegas`] | RedVegas: tells random losses from congestion |
//! | [`vegas_a`] | Vegas-A: thresholds that adapt |
//! | [`muzha`] | Muzha: the switches say how to change the window |
//! | [`waymark`] | Waymark: all three marks in one, RoVegas' measure, Muzha's pace, RedVegas' judgement |
//! | [`rbcc`] | RBCC and RBCC-WL: the window follows the RTT's distance from a threshold |
//! | [`sctp`] | SCTP's: the standard window, RBCA, and SPC, which changes the path |
//! | [`vegas_plus`] | Vegas⁺: Vegas that turns into Reno where it meets Reno |
//! | [`rerouting_vegas`] | La, Walrand and Anantharam's Vegas: takes a lasting rise for a new route |
//! | [`card`] | CARD: against the sign of the delay's gradient |
//! | [`dual`] | DUAL: Reno, cut by the delay half-way between least and most |
//! | [`tri_s`] | Tri-S: grows as long as a segment more brings throughput |
//! | [`santa_cruz`] | Santa Cruz: Vegas' aim, from relative one-way delays |
//! | [`zhang_tsaoussidis`] | Zhang and Tsaoussidis: Reno that eases off before the queue is full |
//! | [`fast`] | FAST: Vegas' aim, in steps in proportion |
//! | [`westwood`] | Westwood and Westwood+: a loss leaves what the path delivers |
//! | [`highspeed`] | HighSpeed TCP (RFC 3649): Reno that scales with its window |
//! | [`scalable`] | Scalable TCP: exponential growth |
//! | [`cubic`] | CUBIC (RFC 9438): a cubic function of time |
//! | [`bbr`] | BBR, version 1: a model of the path's bandwidth and delay |
//! | [`dctcp`] | DCTCP (RFC 8257): cut by the share of marked segments |
//!
//! Windows are in segments, SCTP's in octets. Nothing here reads a clock, knows a packet format or draws a number.

pub mod bbr;
pub mod card;
pub mod controller;
pub mod cubic;
pub mod dctcp;
pub mod dual;
pub mod enhanced_vegas;
pub mod event;
pub mod fast;
pub mod highspeed;
pub mod muzha;
pub mod quick_vegas;
pub mod rbcc;
pub mod red_vegas;
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
pub mod tahoe;
pub mod tri_s;
pub mod vegas;
pub mod vegas_a;
pub mod vegas_plus;
pub mod waymark;
pub mod westwood;
pub mod zhang_tsaoussidis;

pub use bbr::BbrConfig;
pub use card::CardConfig;
pub use controller::{Controller, Factory, Limits, Phase, Snapshot, Verdicts};
pub use cubic::CubicConfig;
pub use dctcp::DctcpConfig;
pub use dual::DualConfig;
pub use enhanced_vegas::EnhancedVegasConfig;
pub use event::{
    AckEvent, Evidence, LossEvent, MarkValues, QueueingTime, RateSample, TimeoutEvent,
};
pub use fast::FastConfig;
pub use highspeed::HighSpeedConfig;
pub use muzha::MuzhaConfig;
pub use quick_vegas::QuickVegasConfig;
pub use rbcc::RbccConfig;
pub use red_vegas::RedVegasConfig;
pub use reno::{ExactRenoConfig, RenoConfig};
pub use rerouting_vegas::ReroutingVegasConfig;
pub use rovegas::{Deployment, RoVegasConfig};
pub use santa_cruz::SantaCruzConfig;
pub use scalable::ScalableConfig;
pub use tahoe::TahoeConfig;
pub use tri_s::TriSConfig;
pub use vegas::VegasConfig;
pub use vegas_a::VegasAConfig;
pub use vegas_plus::VegasPlusConfig;
pub use waymark::WaymarkConfig;
pub use westwood::WestwoodConfig;
pub use zhang_tsaoussidis::ZhangTsaoussidisConfig;
