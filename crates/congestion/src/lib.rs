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
//! | [`rbcc`] | RBCC and RBCC-WL: the window follows the RTT's distance from a threshold |
//! | [`sctp`] | SCTP's: the standard window, RBCA, and SPC, which changes the path |
//!
//! Windows are in segments, SCTP's in octets. Nothing here reads a clock, knows a packet format or draws a number.

pub mod controller;
pub mod enhanced_vegas;
pub mod event;
pub mod muzha;
pub mod quick_vegas;
pub mod rbcc;
pub mod red_vegas;
pub mod reno;
pub mod rovegas;
pub mod sctp;
pub mod tahoe;
pub mod vegas;
pub mod vegas_a;

pub use controller::{Controller, Factory, Limits, Phase, Snapshot, Verdicts};
pub use enhanced_vegas::EnhancedVegasConfig;
pub use event::{AckEvent, Evidence, LossEvent, QueueingTime, RateSample, TimeoutEvent};
pub use muzha::MuzhaConfig;
pub use quick_vegas::QuickVegasConfig;
pub use rbcc::RbccConfig;
pub use red_vegas::RedVegasConfig;
pub use reno::RenoConfig;
pub use rovegas::{Deployment, RoVegasConfig};
pub use tahoe::TahoeConfig;
pub use vegas::VegasConfig;
pub use vegas_a::VegasAConfig;
