//! The interpreter.

mod apply;
mod checksum;
mod external;
#[cfg(feature = "native")]
pub mod native;
mod objects;
mod packet;
mod run;

use crate::bits::Writer;
use crate::code::Calculation;
use crate::crc::CustomCrc;
use crate::draft::{Draft, Unsettled};
use crate::object::Object;
use crate::table::TableState;
use crate::trace::{TraceEvent, Tracer};
use crate::value_set::ValueSetState;
use crate::{DropCause, Event, Octets, Packet};
use p4_ir::Program;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::collections::VecDeque;
use std::sync::Arc;
use units::Instant;

pub use objects::FilterAt;
pub use packet::finish;
pub use run::{clears_variables, run, run_all};

/// What a program works on besides the packet, and what a control plane reads and writes: tables, extern objects,
/// value sets.
#[derive(Debug)]
pub struct Machine {
    pub(crate) program: Arc<Program>,
    pub(crate) tables: Vec<TableState>,
    pub(crate) objects: Vec<Object>,
    /// Where compiled code finds registers.
    #[cfg(feature = "native")]
    pub(crate) cells: Box<[crate::native::Cells]>,
    /// Where compiled code finds what keys of each table led to.
    #[cfg(feature = "native")]
    pub(crate) recent: Box<[usize]>,
    /// Whether code is interpreted even if it is compiled.
    #[cfg(feature = "native")]
    pub(crate) interpreted: bool,
    pub(crate) value_sets: Vec<ValueSetState>,
    /// A batch that packets do not see yet.
    pub(crate) draft: Option<Box<Draft>>,
    /// Where writes of a batch that was published wait.
    pub(crate) unsettled: Vec<Unsettled>,
    pub(crate) calculations: Vec<Calculation>,
    /// The custom CRCs of the program.
    pub(crate) crcs: Vec<CustomCrc>,
    pub(crate) random: ChaCha8Rng,
    /// What the deparser has emitted.
    pub(crate) output: Writer,
    /// Input of hashes.
    pub(crate) scratch: Writer,
    /// Where subroutines return to.
    pub(crate) stack: Vec<u32>,
    /// Rounds that each loop may still take.
    pub(crate) rounds: Vec<u32>,
    /// Loops that were cut.
    cut_loops: u64,
    events: VecDeque<Event>,
    /// Events that nobody took in time.
    lost_events: u64,
    tracer: Option<Box<dyn Tracer>>,
    /// The latest time that the caller has told.
    pub(crate) now: Instant,
    pub(crate) limits: Limits,
}

/// What a program may do, and what is reported of it.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Seed of every draw that the program makes (`random`, hash algorithm `random`).
    pub seed: u64,
    /// Whether digests are reported.
    pub report_digests: bool,
    /// Whether messages, asserts that do not hold, and loops that are cut are reported.
    pub report_logs: bool,
    /// How many states a packet may go through that close a cycle of its parser; and how many rounds a loop may
    /// take, each time it is run.
    pub max_steps: u32,
    /// How many rounds all loops may take in one job before the packet is dropped.
    pub max_rounds: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            seed: 0,
            report_digests: false,
            report_logs: false,
            max_steps: 65_536,
            max_rounds: 1 << 20,
        }
    }
}

/// Events that may wait to be taken.
const MAX_EVENTS: usize = 65_536;

impl Machine {
    /// A machine without tables and objects.
    pub(crate) fn new(program: Arc<Program>, limits: Limits) -> Self {
        Machine {
            program,
            tables: Vec::new(),
            objects: Vec::new(),
            #[cfg(feature = "native")]
            cells: Box::default(),
            #[cfg(feature = "native")]
            recent: Box::default(),
            #[cfg(feature = "native")]
            interpreted: false,
            value_sets: Vec::new(),
            draft: None,
            unsettled: Vec::new(),
            calculations: Vec::new(),
            crcs: Vec::new(),
            random: ChaCha8Rng::seed_from_u64(limits.seed),
            output: Writer::default(),
            scratch: Writer::default(),
            stack: Vec::new(),
            rounds: Vec::new(),
            cut_loops: 0,
            events: VecDeque::new(),
            lost_events: 0,
            tracer: None,
            now: Instant::ZERO,
            limits,
        }
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// What the program may do, and what is reported of it.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Says what time it is, for entries that a control plane inserts. Time does not go back.
    #[inline]
    pub fn advance(&mut self, now: Instant) {
        self.now = self.now.max(now);
    }

    /// Whether there is an event to take.
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// The next event of the kinds that are reported.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Events that were lost because nobody took them: 65,536 may wait.
    pub fn lost_events(&self) -> u64 {
        self.lost_events
    }

    /// Loops that were left because they took as many rounds as they may.
    pub fn cut_loops(&self) -> u64 {
        self.cut_loops
    }

    /// Has code interpreted from now on even if it is compiled, or compiled code run again.
    #[cfg(feature = "native")]
    pub fn set_interpreted(&mut self, interpreted: bool) {
        self.interpreted = interpreted;
    }

    /// Whether all code is interpreted: because there is no other, or because that was asked for.
    #[cfg(feature = "native")]
    pub fn is_interpreted(&self) -> bool {
        self.interpreted
    }

    /// Tells a listener what packets meet; `None` ends that.
    pub fn set_tracer(&mut self, tracer: Option<Box<dyn Tracer>>) {
        self.tracer = tracer;
    }

    /// Tells the listener what the packet with this tag meets. The event is made only if there is a listener.
    #[inline]
    pub fn trace<'a>(&mut self, now: Instant, tag: u64, event: impl FnOnce() -> TraceEvent<'a>) {
        if let Some(tracer) = &mut self.tracer {
            tracer.event(now, tag, event());
        }
    }

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
    pub octets: Octets,
    /// Octets of zero behind them that are not held.
    pub elided: u32,
    /// The last bits of `octets` that are no part of the packet: a deparser has filled up an octet with them.
    pub padding: u8,
    /// Bits parsed.
    pub cursor: usize,
    /// Octets of the packet as counters and meters see them.
    pub length: u32,
    /// The packet's tag.
    pub tag: u64,
    /// The time in the block.
    pub now: Instant,
    /// Whether the parser rejected the packet.
    pub rejected: bool,
    /// The parser's error; 0: none.
    pub error: u64,
    /// Whether a checksum was verified that does not hold.
    pub checksum_error: bool,
    /// Colour that the direct meter of the last entry hit gave.
    pub colour: u64,
    /// The entry that the last look-up found in a table with direct objects; `None`: its default.
    pub hit: Option<u32>,
    /// Why the packet is dropped, whatever the program says.
    pub abort: Option<DropCause>,
    /// Rounds that loops may still take.
    pub rounds: u32,
}

impl Job {
    /// Bits of the packet.
    #[inline]
    pub fn bits(&self) -> usize {
        (self.octets.len() + self.elided as usize) * 8
    }

    /// Makes a packet the one that is worked on: its octets are the job's. `job` says how far it has been read.
    #[inline]
    pub fn begin(&mut self, packet: &mut Packet, machine: &Machine, job: Job) {
        *self = Job {
            octets: std::mem::take(&mut packet.octets),
            elided: packet.elided,
            tag: packet.tag,
            rounds: machine.limits.max_rounds,
            ..job
        };
    }
}
