//! The engine on the wall clock and on Linux interfaces.
//!
//! ```text
//! interfaces ─ af_packet rings ─▶ handle_packet ─ Switch ─ poll_transmit ─▶ rings, or the controller
//! Handle ─ jobs ───────────────────────────────────┘
//! ```
//! Beside the switch there are [`host`]s in user space.
//!
//! One thread owns the switch; others hand it [`Job`]s, and may have the kernel send what it puts into the rings. It
//! sleeps until a frame, a job or a timer of the traffic manager comes. [`Wires`] are the links between such switches and hosts.

mod af_packet;
mod bare;
mod capture;
mod clock;
mod counters;
mod dataplane;
mod error;
pub mod host;
mod interface;
mod jobs;
mod links;
mod offload;
mod reproducers;
mod senders;
mod wires;

pub use af_packet::Offloads;
pub use bare::Bare;
pub use counters::{Counters, Outside};
pub use dataplane::{Dataplane, DataplaneConfig, ToController};
pub use error::IoError;
pub use interface::names as interface_names;
pub use jobs::{Handle, Job, Jobs, jobs};
pub use reproducers::{Reproducer, Reproducers};
pub use wires::{Line, LineConfig, LineCounts, WireConfig, Wires};
