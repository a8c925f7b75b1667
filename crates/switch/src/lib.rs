//! Common parts of the switches of all architectures: ports, queues, lines, copies of packets, drops.
//!
//! The map of this crate:
//! - [`Target`]: the interface of a switch for programs that drive it;
//! - [`Switch`]: a target for any architecture that implements [`Forwarding`];
//! - `traffic_manager`: queues, rates, scheduling, drops; `due`: which port sends next; `replication`: multicast groups
//!   and clone sessions; `packet_generator`: packets that the switch generates; `families`: how many copies descend
//!   from one packet; `contain`: a panic drops one packet;
//! - [`SwitchConfig`], [`Transmit`], [`PortStats`]: configuration and output.

mod config;
mod contain;
mod due;
mod families;
mod forwarding;
mod packet_generator;
mod replication;
mod scheduling;
mod switch;
mod target;
mod traffic_manager;
mod transmit;

pub use config::{MAX_QUEUES, PortConfig, SwitchConfig};
pub use families::Lineage;
pub use forwarding::Forwarding;
pub use packet_generator::{AppId, Generated, GeneratorApp, PacketGenerator, Part, Trigger};
pub use replication::{CloneSession, Replica, Replication};
pub use scheduling::Scheduling;
pub use switch::{Arrival, Switch};
pub use target::{Compile, Registration, Target, Translated};
pub use traffic_manager::{Dequeued, Frame, Queued};
pub use transmit::{PortStats, Transmit};
