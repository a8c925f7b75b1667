//! The switch: packets in, packets and events out, at times that the caller passes.

use crate::contain::AtHand;
use crate::families::Families;
use crate::traffic_manager::TrafficManager;
use crate::{
    AppId, CloneSession, Dequeued, Forwarding, Frame, GeneratorApp, Lineage, PacketGenerator,
    PortConfig, PortStats, Queued, Replica, Replication, SwitchConfig, Target, Transmit,
};
use p4_ir::Program;
use p4_vm::{
    CompileError, ControlError, DraftScope, Drop, DropCause, DropCounts, Event, Job, Machine,
    Octets, Packet, Pipeline, Remains, TraceEvent,
};
use std::collections::VecDeque;
use std::mem::take;
use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use units::Instant;

/// A switch: ingress, traffic manager and egress, as defined by the architecture.
///
/// Programs drive it as a [`Target`]. The other methods are for the architecture.
#[derive(Debug)]
pub struct Switch<A: Forwarding> {
    pipeline: Arc<Pipeline<A>>,
    config: SwitchConfig,
    /// The state that persists between packets.
    pub machine: Machine,
    /// What externs have requested since the last block began.
    pub architecture: A,
    /// The packet that is in a block.
    pub job: Job,
    /// Generates packets.
    pub generator: PacketGenerator,
    replication: Replication,
    pub(crate) tm: TrafficManager,
    drops: DropCounts,
    /// The initial storage of a packet, without its variables.
    storage: Box<[u64]>,
    sent: VecDeque<Transmit>,
    /// Packets that will go through ingress again.
    again: Vec<Restart>,
    pub(crate) families: Families,
    free_frames: Vec<Frame>,
    free_octets: Vec<Octets>,
}

/// A packet that will be parsed again.
#[derive(Debug)]
struct Restart {
    words: Frame,
    packet: Packet,
    lineage: Lineage,
}

/// When a packet reaches a block, and its lineage.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// The time.
    pub now: Instant,
    /// The family of copies to which it belongs.
    pub lineage: Lineage,
}

/// Buffers kept for reuse. Further ones are freed.
const POOL: usize = 4096;

impl<A: Forwarding> Switch<A> {
    /// Creates a switch that runs `program`, with its constant entries installed.
    pub fn new(program: &Program, config: SwitchConfig) -> Result<Self, Vec<CompileError>> {
        Ok(Switch::with_pipeline(Pipeline::compile(program)?, config))
    }

    /// Creates a switch that runs a translated program.
    pub fn with_pipeline(pipeline: Arc<Pipeline<A>>, config: SwitchConfig) -> Self {
        let mut tm = TrafficManager::new(config.max_buffered_octets, config.report_waiting);
        for (&port, &port_config) in &config.ports {
            tm.set_port(port, port_config);
        }
        let machine = pipeline
            .machine(config.limits())
            .expect("compile has set one up before");
        let mut storage = pipeline.storage().into_boxed_slice();
        A::configure(pipeline.layout(), &config, &mut storage);
        Switch {
            pipeline,
            machine,
            architecture: A::default(),
            job: Job::default(),
            generator: PacketGenerator::new(config.generator_packet_time),
            replication: Replication::new(config.max_copies),
            tm,
            drops: DropCounts::default(),
            storage,
            sent: VecDeque::new(),
            again: Vec::new(),
            families: Families::default(),
            free_frames: Vec::new(),
            free_octets: Vec::new(),
            config,
        }
    }

    /// What the architecture knows of the program.
    #[inline]
    pub fn layout(&self) -> &A::Layout {
        self.pipeline.layout()
    }

    /// The translated program.
    pub fn pipeline(&self) -> &Pipeline<A> {
        &self.pipeline
    }

    /// The configuration of the switch.
    pub fn config(&self) -> &SwitchConfig {
        &self.config
    }

    /// The multicast groups and clone sessions.
    pub fn replication(&self) -> &Replication {
        &self.replication
    }

    /// Makes `packet` the current packet, and clears the requests of externs.
    pub fn begin(&mut self, packet: &mut Packet, job: Job) {
        self.architecture = A::default();
        self.job.begin(packet, &self.machine, job);
    }

    /// Runs a block on the current packet.
    #[inline]
    pub fn run(&mut self, words: &mut [u64], block: p4_vm::Target) {
        self.pipeline.run(
            &mut self.architecture,
            &mut self.machine,
            words,
            &mut self.job,
            block,
        );
    }

    /// Runs the blocks of one of the architecture's sequences on the current packet. Returns whether it ran to its end.
    #[inline]
    pub fn run_all(&mut self, words: &mut [u64], sequence: usize) -> bool {
        self.pipeline.run_all(
            &mut self.architecture,
            &mut self.machine,
            words,
            &mut self.job,
            sequence,
        )
    }

    /// Clears the output of the deparser for a deparser in a sequence. [`finish`](Self::finish) builds the packet from
    /// the output.
    #[inline]
    pub fn begin_deparser(&mut self) {
        self.pipeline.begin_deparser(&mut self.machine);
    }

    /// Writes the deparsed current packet to `packet`, truncated to `truncate` octets.
    #[inline]
    pub fn finish(&mut self, packet: &mut Packet, truncate: Option<u32>) {
        self.pipeline
            .finish(&mut self.machine, &mut self.job, packet, truncate);
    }

    /// Runs a deparser on the current packet, and writes the result to `packet`, truncated to `truncate` octets.
    pub fn deparse(
        &mut self,
        words: &mut [u64],
        block: p4_vm::Target,
        packet: &mut Packet,
        truncate: Option<u32>,
    ) {
        self.pipeline.deparse(
            &mut self.architecture,
            &mut self.machine,
            words,
            &mut self.job,
            block,
            (packet, truncate),
        );
    }

    /// Occupies the line with the packet. Returns the end of its serialisation.
    pub fn send(&mut self, port: u16, start: Instant, packet: &Packet) -> Instant {
        let end = self.tm.occupy(port, start, Some(packet.link_octets));
        let stats = self.tm.stats_mut(port);
        stats.tx_packets += 1;
        stats.tx_octets += packet.link_octets as u64;
        end
    }

    /// Whether the switch has this port.
    pub fn has_port(&self, port: u16) -> bool {
        self.tm.has_port(port)
    }

    /// Cells of the buffer that the packets in a queue occupy.
    pub fn queue_cells(&self, port: u16, priority: u8) -> u32 {
        self.tm.cells(port, priority)
    }

    /// Records that a packet has left the switch.
    pub fn leave(&mut self, arrival: &mut Arrival) {
        self.families.leave(&mut arrival.lineage);
    }

    /// Processes every packet whose serialisation starts before `now`, or at `now` without having waited, and every
    /// packet that the generator has produced by then.
    pub(crate) fn serve_before(&mut self, now: Instant) {
        self.machine.advance(now);
        loop {
            let generated = self.generator.next_at().filter(|&at| at <= now);
            let mut sent = None;
            if self.line_is_due_before(generated.unwrap_or(now)) && self.serve_one(now, &mut sent) {
                self.sent.extend(sent);
            } else if let Some(at) = generated {
                self.generate(at);
            } else {
                return;
            }
        }
    }

    /// Whether a serialisation starts before `now`, or at `now` without having waited.
    #[inline]
    fn line_is_due_before(&self, now: Instant) -> bool {
        let next = self.tm.next_start();
        next.is_some_and(|start| start < now || start == now && !self.tm.next_waits())
    }

    /// Runs ingress on the generator's next packet.
    #[cold]
    fn generate(&mut self, now: Instant) {
        let Some(generated) = self.generator.take() else {
            return;
        };
        let mut octets = self.take_octets();
        if let Some(app) = self.generator.app(generated.id) {
            app.write(generated.part, &mut octets);
        }
        let mut packet = Packet::new(octets);
        let port = A::generated(self, &generated, &mut packet);
        self.enter(now, port, packet);
    }

    /// Runs ingress on a packet, then on the packets that are to start over.
    #[inline]
    fn enter(&mut self, now: Instant, port: u16, packet: Packet) {
        self.machine
            .trace(now, packet.tag, || TraceEvent::Arrive { port });
        let mut words = match self.pipeline.clears_variables(&self.machine) {
            true => self.spare_frame(),
            false => self.take_words(),
        };
        A::arrive(self.layout(), &mut words, now, port, &packet);
        let lineage = Lineage::default();
        self.ingress(words, packet, Arrival { now, lineage });
        self.restart(now);
    }

    /// Runs egress on the first packet that is due. Returns whether there was one. If the packet is sent, it is stored
    /// in `sent`.
    pub(crate) fn serve_one(&mut self, now: Instant, sent: &mut Option<Transmit>) -> bool {
        let Some(next) = self.tm.dequeue(now) else {
            return false;
        };
        let (port, start) = (next.port, next.start);
        A::depth_changed(self, start, port, next.priority);
        self.egress(next, sent);
        if sent.is_none() {
            self.tm.occupy(port, start, None);
        }
        self.restart(start);
        true
    }

    /// Runs egress, checksum update and deparser, then occupies the line. A packet that is sent is stored in `sent`. A
    /// panic drops the packet.
    #[inline]
    fn egress(&mut self, mut next: Dequeued, sent: &mut Option<Transmit>) {
        let tag = next.queued.packet.tag;
        let mut arrival = Arrival {
            now: next.start,
            lineage: next.queued.lineage,
        };
        let mut end = None;
        let run = || end = A::egress(self, &mut next, &mut arrival);
        if let Err(payload) = catch_unwind(AssertUnwindSafe(run)) {
            let at_hand = AtHand {
                block: "egress",
                port: next.port,
                ingress_port: A::ingress_port(self.layout(), &next.queued.words),
                tag,
            };
            self.panicked(&payload, at_hand, &mut next.queued.packet, &mut arrival);
        }
        if let Some(end) = end {
            *sent = Some(Transmit {
                port: next.port,
                packet: take(&mut next.queued.packet),
                enqueued: next.queued.enqueued,
                start: next.start,
                end,
                priority: next.priority,
                enq_qdepth: next.queued.enq_qdepth,
                deq_qdepth: next.deq_qdepth,
            });
        }
        self.give_words(Frame(next.queued));
    }

    /// Runs parser, checksum verification and ingress, and carries out the decision of ingress. A panic drops the
    /// packet.
    pub(crate) fn ingress(&mut self, words: Frame, mut packet: Packet, mut arrival: Arrival) {
        let port = A::ingress_port(self.layout(), &words);
        let at_hand = AtHand {
            block: "ingress",
            port,
            ingress_port: port,
            tag: packet.tag,
        };
        let run = || A::ingress(self, words, &mut packet, &mut arrival);
        if let Err(payload) = catch_unwind(AssertUnwindSafe(run)) {
            self.panicked(&payload, at_hand, &mut packet, &mut arrival);
        }
    }

    /// Passes a packet to the traffic manager.
    pub fn enqueue(
        &mut self,
        mut words: Frame,
        packet: Packet,
        arrival: &mut Arrival,
        port: u16,
        truncate: Option<u32>,
    ) {
        let now = arrival.now;
        if !self.tm.has_queues(port) {
            if A::recirculates(self.layout(), port) {
                self.tm.set_port(port, PortConfig::default());
            } else if let Some(config) = self.config.other_ports {
                self.tm.set_port(port, config);
            } else if A::EGRESS_WITHOUT_PORT {
                self.tm.set_absent(port);
            }
        }
        let priority = A::priority(self.layout(), &words);
        let depth = self.tm.depth(port, priority);
        A::queued(self.layout(), &mut words, now, depth);
        let tag = packet.tag;
        let cells = A::cells(self.layout(), &packet);
        // The traffic manager sets the other fields.
        let Frame(mut queued) = words;
        queued.packet = packet;
        queued.cursor = self.job.cursor;
        queued.length = self.job.length;
        queued.truncate = truncate;
        queued.lineage = arrival.lineage.take();
        queued.cells = cells;
        match self.tm.enqueue(now, port, priority, queued) {
            Ok(()) => {
                let joined = || TraceEvent::Enqueue {
                    port,
                    priority,
                    depth,
                };
                self.machine.trace(now, tag, joined);
                A::depth_changed(self, now, port, priority);
            }
            Err((cause, mut queued)) => {
                let packet = take(&mut queued.packet);
                arrival.lineage = queued.lineage;
                A::refused(self, cause, port, arrival, Frame(queued), packet);
            }
        }
    }

    /// Queues a packet to go through ingress again.
    pub fn restart_later(&mut self, words: Frame, packet: Packet, arrival: &mut Arrival) {
        let lineage = arrival.lineage.take().next_pass();
        self.again.push(Restart {
            words,
            packet,
            lineage,
        });
    }

    /// Runs ingress on the packets that `restart_later` queued.
    pub(crate) fn restart(&mut self, now: Instant) {
        while let Some(Restart {
            words,
            packet,
            lineage,
        }) = self.again.pop()
        {
            let mut arrival = Arrival { now, lineage };
            if lineage.passes() > self.config.max_passes {
                let port = A::ingress_port(self.layout(), &words);
                self.drop_packet(DropCause::TooManyPasses, port, &mut arrival, words, packet);
                continue;
            }
            self.ingress(words, packet, arrival);
        }
    }

    /// Makes a copy for each replica. The last one takes the original. Copies beyond the limit per packet are dropped.
    pub fn replicate(
        &mut self,
        mut words: Frame,
        packet: Packet,
        arrival: &mut Arrival,
        replicas: &[Replica],
        truncate: Option<u32>,
    ) {
        let Some((last, others)) = replicas.split_last() else {
            self.give_words(words);
            return self.give_packet(packet);
        };
        for replica in others {
            if !self.admit(arrival, replica.port, packet.tag) {
                continue;
            }
            let mut copy = self.spare_frame();
            copy.copy_from_slice(&words);
            A::copied(self.layout(), &mut copy, replica);
            let twin = self.copy_packet(&packet);
            self.enqueue(copy, twin, &mut { *arrival }, replica.port, truncate);
        }
        if !self.admit(arrival, last.port, packet.tag) {
            self.give_words(words);
            return self.give_packet(packet);
        }
        A::copied(self.layout(), &mut words, last);
        self.enqueue(words, packet, &mut { *arrival }, last.port, truncate);
    }

    /// Whether the packet may have another copy, for this port. If not, counts the copy as dropped.
    fn admit(&mut self, arrival: &mut Arrival, port: u16, tag: u64) -> bool {
        let most = self.config.max_copies;
        let admitted = self.families.admit(&mut arrival.lineage, most);
        if !admitted {
            self.note_drop(DropCause::TooManyCopies, port, arrival.now, tag);
        }
        admitted
    }

    /// Copies a packet into another buffer.
    pub fn copy_packet(&mut self, packet: &Packet) -> Packet {
        let mut octets = self.take_octets();
        octets.extend_from_slice(&packet.octets);
        Packet { octets, ..*packet }
    }

    /// Drops a packet on its way to a queue.
    pub fn drop_packet(
        &mut self,
        cause: DropCause,
        port: u16,
        arrival: &mut Arrival,
        words: Frame,
        packet: Packet,
    ) {
        self.give_words(words);
        self.drop_in_egress(cause, port, arrival, packet);
    }

    /// Drops a packet that has left its queue. Its frame is not moved.
    pub fn drop_in_egress(
        &mut self,
        cause: DropCause,
        port: u16,
        arrival: &mut Arrival,
        packet: Packet,
    ) {
        self.families.leave(&mut arrival.lineage);
        self.note_drop(cause, port, arrival.now, packet.tag);
        self.give_packet(packet);
    }

    /// Counts and reports the drop of a packet.
    pub fn note_drop(&mut self, cause: DropCause, port: u16, now: Instant, tag: u64) {
        self.drops.count(cause);
        self.tm.stats_mut(port).drops.count(cause);
        self.machine
            .trace(now, tag, || TraceEvent::Drop { cause, port });
        if self.config.report_drops {
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

    /// Returns initial storage for a packet: constants are set, all other words are zero.
    #[inline]
    pub fn take_words(&mut self) -> Frame {
        let mut words = self.spare_frame();
        words[..self.pipeline.variables()].fill(0);
        words
    }

    /// Returns storage in which constants are set and the other words are undefined.
    #[inline]
    fn spare_frame(&mut self) -> Frame {
        self.free_frames.pop().unwrap_or_else(|| {
            Frame(Box::new(Queued {
                words: self.storage.clone(),
                ..Queued::default()
            }))
        })
    }

    /// Returns an empty buffer from the pool.
    fn take_octets(&mut self) -> Octets {
        let mut octets = self.free_octets.pop().unwrap_or_default();
        octets.reset();
        octets
    }

    /// Returns the buffer of a packet to the pool.
    pub fn give_packet(&mut self, packet: Packet) {
        if self.free_octets.len() < POOL && packet.octets.is_allocated() {
            self.free_octets.push(packet.octets);
        }
    }

    /// Returns storage to the pool.
    #[inline]
    pub fn give_words(&mut self, words: Frame) {
        if self.free_frames.len() < POOL {
            self.free_frames.push(words);
        }
    }
}

impl<A: Forwarding> Target for Switch<A> {
    fn handle_packet(&mut self, now: Instant, port: u16, packet: Packet) {
        self.serve_before(now);
        let stats = self.tm.stats_mut(port);
        stats.rx_packets += 1;
        stats.rx_octets += packet.link_octets as u64;
        self.enter(now, port, packet);
    }

    #[inline]
    fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        self.machine.advance(now);
        // Written directly to where the caller wants it, without a copy.
        let mut sent = None;
        if let Some(port) = self.sent.front().map(|sent| sent.port) {
            self.tm.note_waiting(port);
            sent = self.sent.pop_front();
        }
        while sent.is_none() {
            match self.generator.next_at() {
                Some(at) if at <= now && !self.line_is_due_before(at) => self.generate(at),
                _ if self.tm.is_due(now) && self.serve_one(now, &mut sent) => {}
                _ => break,
            }
        }
        sent
    }

    fn next_port(&mut self, now: Instant) -> Option<u16> {
        while self.sent.is_empty()
            && let Some(at) = self.generator.next_at().filter(|&at| at <= now)
            && !self.line_is_due_before(at)
        {
            self.machine.advance(now);
            self.generate(at);
        }
        match self.sent.front() {
            Some(sent) => Some(sent.port),
            None => self.tm.next_port(),
        }
    }

    fn poll_waiting(&mut self) -> Option<u16> {
        self.tm.poll_waiting()
    }

    fn set_line_free_at(&mut self, port: u16, at: Instant) {
        self.tm.set_free_at(port, at);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        match self.sent.front() {
            Some(sent) => Some(sent.start),
            None => match (self.tm.next_start(), self.generator.next_at()) {
                (Some(start), Some(at)) => Some(start.min(at)),
                (start, at) => start.or(at),
            },
        }
    }

    fn set_generator_app(
        &mut self,
        now: Instant,
        id: AppId,
        app: Option<GeneratorApp>,
    ) -> Result<(), ControlError> {
        if let Some(app) = &app {
            A::check_app(self.layout(), id, app)?;
        }
        self.serve_before(now);
        self.generator.set(now, id, app);
        Ok(())
    }

    fn port_down(&mut self, now: Instant, port: u16) {
        self.serve_before(now);
        A::port_down(self, now, port);
    }

    fn recycle(&mut self, packet: Packet) {
        self.give_packet(packet);
    }

    fn buffer(&mut self) -> Octets {
        self.take_octets()
    }

    fn set_port(&mut self, port: u16, config: PortConfig) {
        self.tm.set_port(port, config);
    }

    fn port_stats(&self, port: u16) -> PortStats {
        self.tm.stats(port)
    }

    fn send_failed(&mut self, port: u16, packets: u64, octets: u64) {
        let stats = self.tm.stats_mut(port);
        stats.send_failed += packets;
        stats.send_failed_octets += octets;
    }

    fn port_drops(&self) -> Vec<(u16, DropCounts)> {
        self.tm.drops().collect()
    }

    fn queue_depth(&self, port: u16, priority: u8) -> u32 {
        self.tm.depth(port, priority)
    }

    fn buffered_octets(&self) -> u64 {
        self.tm.octets()
    }

    fn drops(&self) -> DropCounts {
        self.drops
    }

    fn begin_batch(&mut self, scope: &DraftScope) -> Remains {
        let discarded = self.discard_batch();
        self.machine.begin_draft(scope);
        if scope.replication {
            self.replication.begin_draft();
        }
        discarded
    }

    fn copy_to_batch(&mut self, most: usize) -> bool {
        self.machine.copy_to_draft(most) && self.replication.copy_to_draft(most)
    }

    fn publish_batch(&mut self) -> Remains {
        let replication = self.replication.publish_draft();
        Box::new((self.machine.publish_draft(), replication))
    }

    fn settle_batch(&mut self, most: usize) -> bool {
        self.machine.settle(most)
    }

    fn discard_batch(&mut self) -> Remains {
        let replication = self.replication.discard_draft();
        Box::new((self.machine.discard_draft(), replication))
    }

    fn set_multicast_group(
        &mut self,
        group: u16,
        replicas: Vec<Replica>,
    ) -> Result<(), ControlError> {
        let edits_draft = self.machine.edits_draft();
        self.replication.set_group(edits_draft, group, replicas)
    }

    fn multicast_group(&self, group: u16) -> &[Replica] {
        self.replication
            .group(group)
            .map_or(&[], |replicas| replicas)
    }

    fn multicast_groups(&self) -> Vec<(u16, &[Replica])> {
        self.replication.groups().collect()
    }

    fn set_clone_session(
        &mut self,
        session: u16,
        to: Option<CloneSession>,
    ) -> Result<(), ControlError> {
        let edits_draft = self.machine.edits_draft();
        self.replication.set_session(edits_draft, session, to)
    }

    fn clone_session(&self, session: u16) -> Option<&CloneSession> {
        self.replication.session(session).map(|session| &**session)
    }

    fn clone_sessions(&self) -> Vec<(u16, &CloneSession)> {
        self.replication.sessions().collect()
    }
}

impl<A: Forwarding> Deref for Switch<A> {
    type Target = Machine;

    fn deref(&self) -> &Machine {
        &self.machine
    }
}

impl<A: Forwarding> DerefMut for Switch<A> {
    fn deref_mut(&mut self) -> &mut Machine {
        &mut self.machine
    }
}
