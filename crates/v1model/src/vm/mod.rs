//! The interpreter.

mod apply;
mod checksum;
mod external;
mod packet;
mod run;
pub mod wide;

use crate::bits::Writer;
use crate::crc::CustomCrc;
use crate::state::Object;
use crate::table::TableState;
use crate::trace::Tracer;
use crate::value_set::ValueSetState;
use crate::{DropCause, Event, SwitchConfig};
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;
use units::Instant;

pub use run::run;

/// What a program works on besides the packet.
#[derive(Debug)]
pub struct Machine {
    pub tables: Vec<TableState>,
    pub objects: Vec<Object>,
    pub value_sets: Vec<ValueSetState>,
    /// The custom CRCs of the program.
    pub crcs: Vec<CustomCrc>,
    pub random: ChaCha8Rng,
    /// What the deparser has emitted.
    pub output: Writer,
    /// Input of hashes.
    pub scratch: Writer,
    /// Where subroutines return to.
    pub stack: Vec<u32>,
    /// Rounds that each loop may still take.
    pub rounds: Vec<u32>,
    /// Loops that were cut.
    pub cut_loops: u64,
    pub events: VecDeque<Event>,
    /// Events that nobody took in time.
    pub lost_events: u64,
    pub tracer: Option<Box<dyn Tracer>>,
    pub config: SwitchConfig,
}

/// Events that may wait to be taken.
const MAX_EVENTS: usize = 65_536;

impl Machine {
    /// Reports an event, unless too many wait already.
    pub fn report(&mut self, event: Event) {
        match self.events.len() < MAX_EVENTS {
            true => self.events.push_back(event),
            false => self.lost_events += 1,
        }
    }
}

/// A packet in a block.
#[derive(Debug, Default)]
pub struct Job {
    /// The packet's octets, as when parsing began.
    pub octets: Vec<u8>,
    pub elided: u32,
    /// Bits parsed.
    pub cursor: usize,
    /// Octets of the packet as counters, meters and `packet_length` see them.
    pub length: u32,
    pub tag: u64,
    pub now: Instant,
    /// The parser's error; 0: none.
    pub error: u64,
    pub checksum_error: bool,
    /// Colour that the direct meter of the last entry hit gave.
    pub colour: u64,
    pub clone: Option<CloneRequest>,
    pub resubmit: Option<Kept>,
    pub recirculate: Option<Kept>,
    pub truncate: Option<u32>,
    /// Why the packet is dropped, whatever the program says.
    pub abort: Option<DropCause>,
    /// Rounds that loops may still take.
    pub rounds: u32,
}

/// The last `clone` of a block.
#[derive(Clone, Copy, Debug)]
pub struct CloneRequest {
    pub session: u64,
    pub kept: Kept,
}

/// What a packet keeps when it starts over: the call that asked for it, and the field list's index.
#[derive(Clone, Copy, Debug)]
pub struct Kept {
    pub call: u32,
    pub list: u64,
}

impl Job {
    /// Bits of the packet.
    pub fn bits(&self) -> usize {
        (self.octets.len() + self.elided as usize) * 8
    }
}
