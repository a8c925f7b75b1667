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

/// The state that a program and its control plane read and write, apart from packets: tables, extern objects, value
/// sets.
#[derive(Debug)]
pub struct Machine {
    pub(crate) program: Arc<Program>,
    pub(crate) tables: Vec<TableState>,
    pub(crate) objects: Vec<Object>,
    /// The addresses of cells, for compiled code.
    #[cfg(feature = "native")]
    pub(crate) cells: Box<[crate::native::Cells]>,
    /// The addresses of recent look-ups of each table, for compiled code.
    #[cfg(feature = "native")]
    pub(crate) recent: Box<[usize]>,
    /// Whether code is interpreted even if it is compiled.
    #[cfg(feature = "native")]
    pub(crate) interpreted: bool,
    pub(crate) value_sets: Vec<ValueSetState>,
    /// A batch that packets do not see yet.
    pub(crate) draft: Option<Box<Draft>>,
    /// Where writes of a published batch are deferred.
    pub(crate) unsettled: Vec<Unsettled>,
    pub(crate) calculations: Vec<Calculation>,
    /// The custom CRCs of the program.
    pub(crate) crcs: Vec<CustomCrc>,
    pub(crate) random: ChaCha8Rng,
    /// The output of the deparser.
    pub(crate) output: Writer,
    /// Scratch buffer for the input of hashes.
    pub(crate) scratch: Writer,
    /// Return addresses of subroutines.
    pub(crate) stack: Vec<u32>,
    /// Iterations that each loop may still take.
    pub(crate) rounds: Vec<u32>,
    /// Number of loops that were cut.
    cut_loops: u64,
    events: VecDeque<Event>,
    /// Number of events that were lost because nobody polled them in time.
    lost_events: u64,
    tracer: Option<Box<dyn Tracer>>,
    /// The latest time that the caller has passed.
    pub(crate) now: Instant,
    pub(crate) limits: Limits,
}

/// Limits of a program, and what is reported.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Seed of every random number that the program draws (`random`, hash algorithm `random`).
    pub seed: u64,
    /// Whether digests are reported.
    pub report_digests: bool,
    /// Whether log messages, failed asserts, and loops that are cut are reported.
    pub report_logs: bool,
    /// How many states that close a cycle of its parser a packet may enter. Also how many iterations a loop may take,
    /// each time it is run.
    pub max_steps: u32,
    /// How many iterations all loops may take in one job before the packet is dropped.
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

/// The most events that may wait to be polled.
const MAX_EVENTS: usize = 65_536;

impl Machine {
    /// Creates a machine without tables and objects.
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

    /// Limits of the program, and what is reported.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Sets the current time, for entries that a control plane inserts. Time never decreases.
    #[inline]
    pub fn advance(&mut self, now: Instant) {
        self.now = self.now.max(now);
    }

    /// Whether there is an event to take.
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// Removes and returns the next event of the kinds that are reported.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Number of events that were lost because 65,536 events were waiting already.
    pub fn lost_events(&self) -> u64 {
        self.lost_events
    }

    /// Number of loops that were left because they reached their iteration limit.
    pub fn cut_loops(&self) -> u64 {
        self.cut_loops
    }

    /// Selects whether code is interpreted even if it is compiled.
    #[cfg(feature = "native")]
    pub fn set_interpreted(&mut self, interpreted: bool) {
        self.interpreted = interpreted;
    }

    /// Whether all code is interpreted: because there is no compiled code, or because [`Self::set_interpreted`]
    /// requested it.
    #[cfg(feature = "native")]
    pub fn is_interpreted(&self) -> bool {
        self.interpreted
    }

    /// Sets the tracer, or removes it with `None`.
    pub fn set_tracer(&mut self, tracer: Option<Box<dyn Tracer>>) {
        self.tracer = tracer;
    }

    /// Reports an event of the packet with this tag to the tracer. The event is constructed only if there is a tracer.
    #[inline]
    pub fn trace<'a>(&mut self, now: Instant, tag: u64, event: impl FnOnce() -> TraceEvent<'a>) {
        if let Some(tracer) = &mut self.tracer {
            tracer.event(now, tag, event());
        }
    }

    /// Queues an event, unless too many are waiting already.
    pub fn report(&mut self, event: Event) {
        match self.events.len() < MAX_EVENTS {
            true => self.events.push_back(event),
            false => self.lost_events += 1,
        }
    }
}

/// The state of a packet in a block.
#[derive(Debug, Default)]
pub struct Job {
    /// The packet's octets at the start of parsing.
    pub octets: Octets,
    /// Number of zero octets after them that are not stored.
    pub elided: u32,
    /// Number of bits at the end of `octets` that do not belong to the packet, because a deparser has filled up an
    /// octet.
    pub padding: u8,
    /// Number of bits parsed.
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
    /// Whether the verification of a checksum failed.
    pub checksum_error: bool,
    /// The colour from the direct meter of the last entry hit.
    pub colour: u64,
    /// The entry of the last look-up in a table with direct objects. `None` stands for the default.
    pub hit: Option<u32>,
    /// Why the packet is dropped regardless of the program.
    pub abort: Option<DropCause>,
    /// Iterations that loops may still take.
    pub rounds: u32,
}

impl Job {
    /// Length of the packet in bits.
    #[inline]
    pub fn bits(&self) -> usize {
        (self.octets.len() + self.elided as usize) * 8
    }

    /// Makes `packet` the current packet: the job takes its octets. `job` holds the position up to which it has been
    /// parsed.
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
