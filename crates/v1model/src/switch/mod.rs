//! The switch: packets in, packets and events out, at times that the caller says.

mod contain;
mod copies;
mod egress;
mod families;
mod ingress;

pub use families::Lineage;

use crate::pipeline::Pipeline;
use crate::tm::{Queued, TrafficManager};
use crate::trace::{TraceEvent, Tracer};
use crate::vm::{self, Job, Machine};
use crate::*;
use families::Families;
use p4_ir::Program;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use units::Instant;

/// Values of `instance_type`, as BMv2 numbers them.
mod instance {
    pub const NORMAL: u64 = 0;
    pub const INGRESS_CLONE: u64 = 1;
    pub const EGRESS_CLONE: u64 = 2;
    pub const RECIRCULATED: u64 = 4;
    pub const REPLICATED: u64 = 5;
    pub const RESUBMITTED: u64 = 6;
}

/// A v1model switch: parser, ingress, traffic manager, egress, deparser.
///
/// It has no clock and no threads: `now` is an argument and must not go back.
/// ```text
/// handle_packet(now, port, packet)      ingress runs at once
/// poll_transmit(now) → Some(transmit)   egress runs when a line is free; call until None
/// poll_timeout()     → when to call poll_transmit next
/// ```
/// What a switch does depends on when packets come, not on how often it is polled: a packet whose
/// serialisation is due leaves its queue before one that comes at the same time or later.
#[derive(Debug)]
pub struct Switch {
    pub(crate) pipeline: Arc<Pipeline>,
    pub(crate) machine: Machine,
    pub(crate) multicast: BTreeMap<u16, Arc<[Replica]>>,
    pub(crate) sessions: BTreeMap<u16, Arc<CloneSession>>,
    /// The latest time that the caller has told.
    pub(crate) now: Instant,
    tm: TrafficManager,
    drops: DropCounts,
    job: Job,
    sent: VecDeque<Transmit>,
    /// Packets that start over.
    again: Vec<Restart>,
    families: Families,
    free_words: Vec<Box<[u64]>>,
    #[expect(clippy::vec_box, reason = "they go into queues as they are")]
    free_queued: Vec<Box<Queued>>,
    free_octets: Vec<Vec<u8>>,
}

/// A packet that is to be parsed again.
#[derive(Debug)]
struct Restart {
    words: Box<[u64]>,
    packet: Packet,
    lineage: Lineage,
}

/// When a packet comes to a block, and where from.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    now: Instant,
    lineage: Lineage,
}

/// Buffers kept for later; more are given back to the allocator.
const POOL: usize = 4096;

impl Switch {
    /// A switch that runs `program`, its constant entries in place.
    pub fn new(program: &Program, config: SwitchConfig) -> Result<Switch, Vec<CompileError>> {
        Ok(Switch::with_pipeline(Pipeline::compile(program)?, config))
    }

    /// A switch that runs a program which is translated already.
    pub fn with_pipeline(pipeline: Arc<Pipeline>, config: SwitchConfig) -> Switch {
        let mut tm = TrafficManager::new(config.max_buffered_octets);
        for (&port, &port_config) in &config.ports {
            tm.set_port(port, port_config);
        }
        let machine = pipeline
            .machine(config)
            .expect("compile has set one up before");
        Switch {
            pipeline,
            machine,
            multicast: BTreeMap::new(),
            sessions: BTreeMap::new(),
            now: Instant::ZERO,
            tm,
            drops: DropCounts::default(),
            job: Job::default(),
            sent: VecDeque::new(),
            again: Vec::new(),
            families: Families::default(),
            free_words: Vec::new(),
            free_queued: Vec::new(),
            free_octets: Vec::new(),
        }
    }

    /// The program it runs.
    pub fn program(&self) -> &Program {
        &self.pipeline.program
    }

    /// A packet came in through `port` (its last octet, for a store-and-forward switch). What was to
    /// leave before `now` has left; what has waited and leaves at `now` as well goes first if
    /// [`poll_transmit`](Self::poll_transmit) is called first.
    pub fn handle_packet(&mut self, now: Instant, port: u16, packet: Packet) {
        self.serve_before(now);
        let stats = self.tm.stats_mut(port);
        stats.rx_packets += 1;
        stats.rx_octets += packet.link_octets as u64;
        self.trace(now, packet.tag, TraceEvent::Arrive { port });
        let mut words = self.take_words();
        let meta = &self.pipeline.code.metadata;
        meta.ingress_port.set(&mut words, port as u64);
        meta.packet_length.set(&mut words, packet.length() as u64);
        meta.ingress_global_timestamp
            .set(&mut words, now.as_micros());
        let lineage = Lineage::default();
        self.ingress(words, packet, Arrival { now, lineage });
        self.restart(now);
    }

    /// The next packet whose serialisation starts at or before `now`, in order of that time, then of
    /// port. If the caller is late, `start` is still when the line was free.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        self.now = self.now.max(now);
        if let Some(sent) = self.sent.pop_front() {
            return Some(sent);
        }
        loop {
            if let Some(sent) = self.serve_one(now)? {
                return Some(sent);
            }
        }
    }

    /// The port of the packet that [`poll_transmit`](Self::poll_transmit) is about next, whenever that is.
    pub fn next_port(&self) -> Option<u16> {
        match self.sent.front() {
            Some(sent) => Some(sent.port),
            None => self.tm.next_port(),
        }
    }

    /// Says when a port's line will have sent what it took last, where the caller reckons that more finely
    /// than in whole nanoseconds a packet.
    pub fn set_line_free_at(&mut self, port: u16, at: Instant) {
        self.tm.set_free_at(port, at);
    }

    /// When [`poll_transmit`](Self::poll_transmit) has something to do next; `None` if nothing waits.
    pub fn poll_timeout(&self) -> Option<Instant> {
        match self.sent.front() {
            Some(sent) => Some(sent.start),
            None => self.tm.next_start(),
        }
    }

    /// The next event of the kinds that the configuration asks for.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.machine.events.pop_front()
    }

    /// Gives back a packet's buffer, so that the next packet needs no allocation.
    pub fn recycle(&mut self, packet: Packet) {
        if self.free_octets.len() < POOL && packet.octets.capacity() > 0 {
            self.free_octets.push(packet.octets);
        }
    }

    /// An empty buffer from the pool, for a packet to be handed in.
    pub fn buffer(&mut self) -> Vec<u8> {
        let mut octets = self.free_octets.pop().unwrap_or_default();
        octets.clear();
        octets
    }

    /// Sets a port's rate and queues from now on. Packets that wait already stay.
    pub fn set_port(&mut self, port: u16, config: PortConfig) {
        self.tm.set_port(port, config);
    }

    /// A port's counts; zero for one that was never used.
    pub fn port_stats(&self, port: u16) -> PortStats {
        self.tm.stats(port)
    }

    /// Each port's drops.
    pub fn port_drops(&self) -> impl Iterator<Item = (u16, DropCounts)> {
        self.tm.drops()
    }

    /// Packets waiting now in one of a port's queues.
    pub fn queue_depth(&self, port: u16, priority: u8) -> u32 {
        self.tm.depth(port, priority)
    }

    /// Octets of memory that packets take which wait in queues, their variables included; at most
    /// [`SwitchConfig::max_buffered_octets`].
    pub fn buffered_octets(&self) -> u64 {
        self.tm.octets()
    }

    /// Events that were lost because nobody took them: 65,536 may wait.
    pub fn lost_events(&self) -> u64 {
        self.machine.lost_events
    }

    /// Loops that were left because they took as many rounds as they may.
    pub fn cut_loops(&self) -> u64 {
        self.machine.cut_loops
    }

    /// Drops of the whole switch, by cause.
    pub fn drops(&self) -> DropCounts {
        self.drops
    }

    /// Tells a listener what packets meet; `None` ends that.
    pub fn set_tracer(&mut self, tracer: Option<Box<dyn Tracer>>) {
        self.machine.tracer = tracer;
    }

    /// Makes a packet the one that is worked on: its octets change places with the last one's buffer.
    fn begin(&mut self, packet: &mut Packet, job: Job) {
        let mut spare = std::mem::take(&mut self.job.octets);
        spare.clear();
        let octets = std::mem::replace(&mut packet.octets, spare);
        self.job = Job {
            octets,
            elided: packet.elided,
            tag: packet.tag,
            rounds: self.machine.config.max_rounds,
            ..job
        };
    }

    fn run(&mut self, words: &mut [u64], block: u32) {
        let Pipeline { program, code } = &*self.pipeline;
        vm::run(
            program,
            code,
            &mut self.machine,
            words,
            &mut self.job,
            block,
        );
    }

    fn drop_packet(
        &mut self,
        cause: DropCause,
        port: u16,
        arrival: &mut Arrival,
        words: Box<[u64]>,
        packet: Packet,
    ) {
        self.families.leave(&mut arrival.lineage);
        self.note_drop(cause, port, arrival.now, packet.tag);
        self.give_words(words);
        self.recycle(packet);
    }

    /// Counts a packet that is dropped, and reports it.
    fn note_drop(&mut self, cause: DropCause, port: u16, now: Instant, tag: u64) {
        self.drops.count(cause);
        self.tm.stats_mut(port).drops.count(cause);
        self.trace(now, tag, TraceEvent::Drop { cause, port });
        if self.machine.config.report_drops {
            let at = now;
            let drop = Drop {
                at,
                cause,
                port,
                tag,
            };
            self.machine.report(Event::Drop(drop));
        }
    }

    /// Storage as a packet finds it: constants in place, all else zero.
    fn take_words(&mut self) -> Box<[u64]> {
        let code = &self.pipeline.code;
        if let Some(mut words) = self.free_words.pop() {
            words[..code.words].fill(0);
            return words;
        }
        let mut words = vec![0; code.constants_at];
        words.extend_from_slice(&code.constants);
        words.into_boxed_slice()
    }

    /// Keeps a place in a queue for another packet.
    fn give_queued(&mut self, queued: Box<Queued>) {
        if self.free_queued.len() < POOL {
            self.free_queued.push(queued);
        }
    }

    fn give_words(&mut self, words: Box<[u64]>) {
        if self.free_words.len() < POOL {
            self.free_words.push(words);
        }
    }

    fn trace(&mut self, now: Instant, tag: u64, event: TraceEvent<'_>) {
        if let Some(tracer) = &mut self.machine.tracer {
            tracer.event(now, tag, event);
        }
    }
}
