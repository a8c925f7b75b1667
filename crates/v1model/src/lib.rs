//! Runs p4-ir on the v1model architecture: pipeline and traffic manager.
//!
//! ```no_run
//! # use v1model::{Match, Packet, PortConfig, Switch, SwitchConfig};
//! # use units::{Instant, Rate};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let program = p4_ir::Program::default();
//! # let octets = vec![0; 64];
//! let mut switch = Switch::new(&program, SwitchConfig::default()).map_err(|e| e[0].clone())?;
//! let line = PortConfig { rate: Rate::from_bps(1_600_000), capacity: 50, queues: 1 };
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

mod bits;
mod code;
mod compile;
mod config;
mod control;
mod crc;
mod error;
mod event;
mod hash;
mod packet;
mod pipeline;
mod state;
mod switch;
mod table;
mod tm;
mod trace;
mod value_set;
mod vm;

pub use config::{PortConfig, SwitchConfig};
pub use control::{
    ActionSpec, CloneSession, CounterData, DirectOf, Entry, EntryAction, Group, Match, Member,
    MeterConfig, RegisterCells, Replica,
};
pub use crc::{CrcParameters, CrcWidth};
pub use error::{CompileError, ControlError};
pub use event::{Digest, Drop, DropCause, DropCounts, Event, Log, Panic, PortStats, Transmit};
pub use packet::Packet;
pub use pipeline::Pipeline;
pub use switch::Switch;
pub use trace::{TraceEvent, Tracer};
