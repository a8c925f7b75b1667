//! The v1model architecture: its pipeline, externs and metadata.
//!
//! ```no_run
//! # use v1model::{Match, Packet, PortConfig, Switch, SwitchConfig, Target};
//! # use units::{Instant, Rate};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let program = p4_ir::Program::default();
//! # let octets = vec![0; 64];
//! let mut switch = Switch::new(&program, SwitchConfig::default()).map_err(|e| e[0].clone())?;
//! let line = PortConfig { rate: Rate::from_bps(1_600_000), capacity: 50, queues: 1, ..PortConfig::default() };
//! switch.set_port(2, line);
//! switch.add("route", &[("hdr.ipv4.dst", Match::lpm(0x0a000000_u32, 8))], 0,
//!            "forward", &[("port", 2_u32.into())])?;
//!
//! switch.handle_packet(Instant::ZERO, 1, Packet::new(octets));
//! while let Some(sent) = switch.poll_transmit(Instant::ZERO) {
//!     println!("port {} at {}", sent.port, sent.end);
//!     switch.recycle(sent.packet);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! The map of this crate:
//! - `architecture`: [`V1Model`], the interface to the engine and the switch;
//! - `blocks`: the package and the standard metadata; `externs`, `objects`, `calculations`: the declarations of
//!   v1model;
//! - `ingress`, `egress`, `copies`: the path of a packet.

mod architecture;
mod blocks;
mod calculations;
mod copies;
mod egress;
mod externs;
mod ingress;
mod objects;

pub use architecture::{DEFAULT_DROP_PORT, DROP_PORT, V1Model};
pub use p4_vm::{
    ActionSpec, CompileError, ControlError, CounterData, CrcParameters, CrcWidth, Digest, DirectOf,
    Drop, DropCause, DropCounts, Entry, EntryAction, Event, Group, Log, Match, Member, MeterConfig,
    Packet, Panic, TraceEvent, Tracer,
};
use switch::Registration;
pub use switch::{
    CloneSession, PortConfig, PortStats, Replica, Scheduling, SwitchConfig, Target, Transmit,
};

/// A program translated for v1model.
pub type Pipeline = p4_vm::Pipeline<V1Model>;
/// A v1model switch: parser, ingress, traffic manager, egress, deparser.
pub type Switch = switch::Switch<V1Model>;

/// The registration for look-up by programs.
pub const REGISTRATION: Registration = Registration {
    package: blocks::PACKAGE,
    include: "v1model.p4",
    runs: |program| program.package == blocks::PACKAGE,
    compile: |program| Ok(Pipeline::compile(program)?),
};
