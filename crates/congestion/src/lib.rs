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
//!
//! Windows are in segments. Nothing here reads a clock, knows a packet format or draws a number.

pub mod controller;
pub mod event;
pub mod reno;
pub mod rovegas;
pub mod tahoe;
pub mod vegas;

pub use controller::{Controller, Factory, Limits, Phase, Snapshot};
pub use event::{AckEvent, Evidence, LossEvent, QueueingTime, TimeoutEvent};
pub use reno::RenoConfig;
pub use rovegas::{Deployment, RoVegasConfig};
pub use tahoe::TahoeConfig;
pub use vegas::VegasConfig;
