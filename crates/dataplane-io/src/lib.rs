//! The engine on the wall clock and on Linux interfaces.
//!
//! ```text
//! interfaces ─ af_packet rings ─▶ handle_packet ─ Switch ─ poll_transmit ─▶ rings, or the controller
//! Handle ─ jobs ───────────────────────────────────┘
//! ```
//! There are also user-space [`host`]s.
//!
//! One thread owns the switch. Others submit [`Job`]s to it, and may make the kernel send the frames that it puts into
//! the rings. The thread sleeps until there is a frame, a job or an expired timer of the traffic manager. [`Wires`] are
//! the links between such switches and hosts.

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
