//! Runs p4-ir programs of any architecture: bytecode, tables, registers, counters, meters, hashes, checksums, parsing
//! and deparsing of packets.
//!
//! The map of this crate, from the bottom:
//! - `bits`, `wide`, `crc`, `hash`: arithmetic on octets and words;
//! - `entity`: what a control plane writes; `error`: why it is rejected; `octets`, `packet`, `event`, `trace`;
//! - `code`: the bytecode;
//! - `cells`, `filter`, `table`, `object`, `value_set`: state that persists between packets; `draft`: batches of
//!   changes to it; `pending`: deferred writes of a published batch;
//! - `vm`: the interpreter; `control`: operations of a control plane on a [`Machine`];
//! - `native`: the interface for a compiler to machine code;
//! - `architecture`: what an [`Architecture`] adds; `compile`: from p4-ir to bytecode; [`Pipeline`]: a translated
//!   program.
//!
//! An architecture binds the blocks of the package, translates calls of its externs with the building blocks of the
//! [`Compiler`], and adds its own calls. The architecture and the crate `switch` decide when blocks run.

mod architecture;
mod bits;
mod cells;
#[cfg_attr(
    feature = "native",
    allow(missing_docs, reason = "fields are named for what they are")
)]
mod code;
mod compile;
mod control;
mod crc;
mod draft;
mod entity;
mod error;
mod event;
mod filter;
mod hash;
#[cfg(feature = "native")]
pub mod native;
mod object;
mod octets;
mod packet;
mod pending;
mod pipeline;
mod sequence;
mod table;
mod trace;
mod value_set;
mod vm;
mod wide;

pub use architecture::{Architecture, CallSite};
pub use cells::{Access, Counted, MeterUnit, Register};
pub use code::{Calculation, ListValue, MetaField, NONE, Slot, Target};
pub use compile::{Compiler, enum_member, walk};
pub use crc::{Crc, CrcParameters, CrcWidth};
pub use draft::{DraftScope, Remains, copy_some};
pub use entity::{
    ActionSpec, CounterData, DirectOf, Entry, EntryAction, Group, Match, Member, MeterConfig,
    RegisterCells,
};
pub use error::{CompileError, ControlError};
pub use event::{Digest, Drop, DropCause, DropCounts, Event, Log, Panic};
pub use filter::{Filter, FilterConfig, FilterKind};
pub use hash::Algorithm;
pub use object::{Object, member};
pub use octets::Octets;
pub use packet::Packet;
pub use pipeline::Pipeline;
pub use sequence::{Reported, Sequence, Stage};
pub use trace::{TraceEvent, Tracer};
pub use vm::{FilterAt, Job, Limits, Machine};
