//! The switch: packets in, packets and events out, at times that the caller says.

use crate::code::Preserve;
use crate::pipeline::Pipeline;
use crate::tm::{Dequeued, Queued, TrafficManager};
use crate::trace::{TraceEvent, Tracer};
use crate::vm::{self, Job, Kept, Machine};
use crate::*;
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
    pub(crate) multicast: BTreeMap<u16, Vec<Replica>>,
    pub(crate) sessions: BTreeMap<u16, CloneSession>,
    /// The latest time that the caller has told.
    pub(crate) now: Instant,
    tm: TrafficManager,
    drops: DropCounts,
    job: Job,
    sent: VecDeque<Transmit>,
    /// Packets that start over.
    again: Vec<Restart>,
    free_words: Vec<Box<[u64]>>,
    free_octets: Vec<Vec<u8>>,
}

/// A packet that is to be parsed again.
#[derive(Debug)]
struct Restart {
    words: Box<[u64]>,
    packet: Packet,
    passes: u32,
}

/// What ingress works on.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    now: Instant,
    passes: u32,
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
        let mut tm = TrafficManager::default();
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
            free_words: Vec::new(),
            free_octets: Vec::new(),
        }
    }

    /// The program it runs.
    pub fn program(&self) -> &Program {
        &self.pipeline.program
    }

    /// A packet came in through `port` (its last octet, for a store-and-forward switch).
    pub fn handle_packet(&mut self, now: Instant, port: u16, packet: Packet) {
        self.serve(now);
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
        self.ingress(words, packet, Arrival { now, passes: 0 });
        self.restart(now);
    }

    /// The next packet whose serialisation starts at or before `now`, in order of that time, then of
    /// port. If the caller is late, `start` is still when the line was free.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        self.now = self.now.max(now);
        loop {
            if let Some(sent) = self.sent.pop_front() {
                return Some(sent);
            }
            if !self.serve_one(now) {
                return None;
            }
        }
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

    /// Packets waiting now in one of a port's queues.
    pub fn queue_depth(&self, port: u16, priority: u8) -> u32 {
        self.tm.depth(port, priority)
    }

    /// Drops of the whole switch, by cause.
    pub fn drops(&self) -> DropCounts {
        self.drops
    }

    /// Tells a listener what packets meet; `None` ends that.
    pub fn set_tracer(&mut self, tracer: Option<Box<dyn Tracer>>) {
        self.machine.tracer = tracer;
    }

    // -- ingress ------------------------------------------------------------------------------

    /// Parser, checksum verification, ingress, and what ingress decided.
    fn ingress(&mut self, mut words: Box<[u64]>, mut packet: Packet, arrival: Arrival) {
        self.parse(&mut words, &mut packet, arrival.now);
        let blocks = self.pipeline.code.blocks;
        self.run(&mut words, blocks.ingress);
        std::mem::swap(&mut self.job.octets, &mut packet.octets);

        let meta = self.pipeline.code.metadata;
        let port = meta.ingress_port.get(&words) as u16;
        if self.job.assert_failed {
            return self.drop_packet(DropCause::Assert, port, arrival.now, words, packet);
        }
        if let Some(request) = self.job.clone.take() {
            self.clone_ingress(&words, &packet, arrival, request);
        }
        if let Some(kept) = self.job.resubmit.take() {
            return self.resubmit(words, packet, arrival, kept);
        }
        let group = meta.mcast_grp.get(&words) as u16;
        if group != 0 {
            let replicas = self.multicast.get(&group).cloned().unwrap_or_default();
            if replicas.is_empty() {
                let cause = DropCause::NoMulticastGroup;
                return self.drop_packet(cause, port, arrival.now, words, packet);
            }
            meta.instance_type.set(&mut words, instance::REPLICATED);
            let truncate = self.job.truncate;
            return self.replicate(words, packet, arrival, &replicas, truncate);
        }
        let egress = meta.egress_spec.get(&words) as u16;
        if egress == self.machine.config.drop_port {
            return self.drop_packet(DropCause::Ingress, port, arrival.now, words, packet);
        }
        meta.instance_type.set(&mut words, instance::NORMAL);
        let truncate = self.job.truncate;
        self.enqueue(words, packet, arrival, egress, truncate);
    }

    /// Runs the parser and verifies checksums. The packet's octets are the job's until they are
    /// swapped back.
    fn parse(&mut self, words: &mut [u64], packet: &mut Packet, now: Instant) {
        self.begin(
            packet,
            Job {
                length: packet.length(),
                now,
                ..Job::default()
            },
        );
        let blocks = self.pipeline.code.blocks;
        self.run(words, blocks.parser);
        let meta = self.pipeline.code.metadata;
        meta.parser_error.set(words, self.job.error);
        self.run(words, blocks.verify);
        meta.checksum_error
            .set(words, self.job.checksum_error as u64);
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

    fn clone_ingress(
        &mut self,
        words: &[u64],
        packet: &Packet,
        arrival: Arrival,
        request: vm::CloneRequest,
    ) {
        let Some(session) = self.session(request.session) else {
            return;
        };
        let mut copy = self.fresh(words, instance::INGRESS_CLONE, packet.length());
        let mut twin = self.copy_packet(packet);
        let original = std::mem::take(&mut self.job);
        self.parse(&mut copy, &mut twin, arrival.now);
        std::mem::swap(&mut self.job.octets, &mut twin.octets);
        // Of what the parser did only headers stay.
        self.keep_headers_only(&mut copy, words, instance::INGRESS_CLONE, packet.length());
        self.keep(words, &mut copy, request.kept);
        self.replicate(copy, twin, arrival, &session.replicas, session.truncate);
        self.job = original;
    }

    fn session(&self, session: u64) -> Option<CloneSession> {
        let session = u16::try_from(session & 0x7fff).ok()?;
        self.sessions.get(&session).cloned()
    }

    fn resubmit(&mut self, words: Box<[u64]>, packet: Packet, arrival: Arrival, kept: Kept) {
        let meta = self.pipeline.code.metadata;
        let mut fresh = self.fresh(&words, instance::RESUBMITTED, packet.length());
        let arrived = meta.ingress_global_timestamp.get(&words);
        meta.ingress_global_timestamp.set(&mut fresh, arrived);
        self.keep(&words, &mut fresh, kept);
        self.give_words(words);
        self.again.push(Restart {
            words: fresh,
            packet,
            passes: arrival.passes + 1,
        });
    }

    /// Storage of a packet that starts over: nothing in it but where it came from.
    fn fresh(&mut self, words: &[u64], instance_type: u64, length: u32) -> Box<[u64]> {
        let meta = self.pipeline.code.metadata;
        let mut fresh = self.take_words();
        meta.ingress_port
            .set(&mut fresh, meta.ingress_port.get(words));
        meta.packet_length.set(&mut fresh, length as u64);
        meta.instance_type.set(&mut fresh, instance_type);
        fresh
    }

    /// Clears all but the headers, then sets what `fresh` sets.
    fn keep_headers_only(&mut self, copy: &mut Box<[u64]>, words: &[u64], kind: u64, length: u32) {
        let mut fresh = self.fresh(words, kind, length);
        let headers = self.pipeline.code.header_words.clone();
        fresh[headers.clone()].copy_from_slice(&copy[headers]);
        let old = std::mem::replace(copy, fresh);
        self.give_words(old);
    }

    /// Copies the metadata that a packet keeps when it starts over.
    fn keep(&self, from: &[u64], to: &mut [u64], kept: Kept) {
        use crate::code::ExternCode::{Clone, Recirculate, Resubmit};
        let code = &self.pipeline.code;
        let mut copy = |slot: u32, words: u32| {
            let range = slot as usize..(slot + words) as usize;
            to[range.clone()].copy_from_slice(&from[range]);
        };
        match &code.externs[kept.call as usize] {
            Clone { preserve, .. } | Resubmit { preserve } | Recirculate { preserve } => {
                match preserve {
                    Preserve::Nothing => {}
                    Preserve::Words(words) => {
                        words.iter().for_each(|&(slot, words)| copy(slot, words));
                    }
                    Preserve::FieldList(_) => {
                        for &(list, slot, words) in &code.field_lists {
                            if list == kept.list {
                                copy(slot, words);
                            }
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// A copy for each replica; the last takes the original.
    fn replicate(
        &mut self,
        mut words: Box<[u64]>,
        packet: Packet,
        arrival: Arrival,
        replicas: &[Replica],
        truncate: Option<u32>,
    ) {
        let meta = self.pipeline.code.metadata;
        let Some((last, others)) = replicas.split_last() else {
            self.give_words(words);
            return self.recycle(packet);
        };
        for replica in others {
            let mut copy = self.free_words.pop().unwrap_or_else(|| words.clone());
            copy.copy_from_slice(&words);
            meta.egress_rid.set(&mut copy, replica.rid as u64);
            let twin = self.copy_packet(&packet);
            self.enqueue(copy, twin, arrival, replica.port, truncate);
        }
        meta.egress_rid.set(&mut words, last.rid as u64);
        self.enqueue(words, packet, arrival, last.port, truncate);
    }

    fn enqueue(
        &mut self,
        mut words: Box<[u64]>,
        packet: Packet,
        arrival: Arrival,
        port: u16,
        truncate: Option<u32>,
    ) {
        let now = arrival.now;
        if !self.tm.has_port(port)
            && let Some(config) = self.machine.config.other_ports
        {
            self.tm.set_port(port, config);
        }
        let meta = &self.pipeline.code.metadata;
        let priority = meta.priority.get(&words) as u8;
        let depth = self.tm.depth(port, priority);
        meta.enq_timestamp.set(&mut words, now.as_micros());
        meta.enq_qdepth.set(&mut words, depth as u64);
        let tag = packet.tag;
        let queued = Queued {
            words,
            packet,
            cursor: self.job.cursor,
            length: self.job.length,
            truncate,
            passes: arrival.passes,
            enqueued: now,
            enq_qdepth: 0,
        };
        match self.tm.enqueue(now, port, priority, queued) {
            Ok(()) => self.trace(
                now,
                tag,
                TraceEvent::Enqueue {
                    port,
                    priority,
                    depth,
                },
            ),
            Err((cause, queued)) => {
                self.drop_packet(cause, port, now, queued.words, queued.packet);
            }
        }
    }

    /// Sends packets through ingress again that asked for it.
    fn restart(&mut self, now: Instant) {
        while let Some(Restart {
            words,
            packet,
            passes,
        }) = self.again.pop()
        {
            if passes > self.machine.config.max_passes {
                let port = self.pipeline.code.metadata.ingress_port.get(&words) as u16;
                self.drop_packet(DropCause::TooManyPasses, port, now, words, packet);
                continue;
            }
            self.ingress(words, packet, Arrival { now, passes });
        }
    }

    // -- egress -------------------------------------------------------------------------------

    /// Everything whose serialisation starts at or before `now`.
    fn serve(&mut self, now: Instant) {
        self.now = self.now.max(now);
        while self.serve_one(now) {}
    }

    /// Takes the packet that is due first through egress; `false` if none is due.
    fn serve_one(&mut self, now: Instant) -> bool {
        let Some(next) = self.tm.dequeue(now) else {
            return false;
        };
        let (port, start) = (next.port, next.start);
        match self.egress(next) {
            Some(mut sent) => {
                sent.end = self.tm.occupy(port, start, Some(sent.packet.link_octets));
                let stats = self.tm.stats_mut(port);
                stats.tx_packets += 1;
                stats.tx_octets += sent.packet.link_octets as u64;
                self.sent.push_back(sent);
            }
            None => {
                self.tm.occupy(port, start, None);
            }
        }
        self.restart(start);
        true
    }

    /// Egress, checksum update, deparser; `None` if the packet is not sent.
    fn egress(&mut self, next: Dequeued) -> Option<Transmit> {
        let Dequeued {
            port,
            priority,
            start,
            deq_qdepth,
            queued,
        } = next;
        let Queued {
            mut words,
            mut packet,
            cursor,
            length,
            truncate,
            passes,
            enqueued,
            ..
        } = queued;
        let enq_qdepth = queued.enq_qdepth;
        let waited = TraceEvent::Dequeue {
            port,
            priority,
            depth: deq_qdepth,
            enqueued,
        };
        self.trace(start, packet.tag, waited);

        let meta = self.pipeline.code.metadata;
        meta.egress_port.set(&mut words, port as u64);
        // Not the drop port, so that only egress itself can drop.
        meta.egress_spec
            .set(&mut words, self.machine.config.drop_port as u64 + 1);
        meta.egress_global_timestamp
            .set(&mut words, start.as_micros());
        meta.deq_timedelta
            .set(&mut words, start.as_micros() - enqueued.as_micros());
        meta.deq_qdepth.set(&mut words, deq_qdepth as u64);
        meta.packet_length.set(&mut words, length as u64);

        self.begin(
            &mut packet,
            Job {
                cursor,
                length,
                now: start,
                truncate,
                ..Job::default()
            },
        );
        let blocks = self.pipeline.code.blocks;
        self.run(&mut words, blocks.egress);
        let arrival = Arrival { now: start, passes };
        if let Some(request) = self.job.clone.take() {
            self.clone_egress(&words, &packet, arrival, request);
        }
        let drop = match self.job.assert_failed {
            true => Some(DropCause::Assert),
            false if meta.egress_spec.get(&words) == self.machine.config.drop_port as u64 => {
                Some(DropCause::Egress)
            }
            false => None,
        };
        if let Some(cause) = drop {
            std::mem::swap(&mut self.job.octets, &mut packet.octets);
            self.drop_packet(cause, port, start, words, packet);
            return None;
        }
        self.run(&mut words, blocks.compute);
        self.deparse(&mut words, &mut packet);
        if let Some(kept) = self.job.recirculate.take() {
            let mut fresh = self.fresh(&words, instance::RECIRCULATED, packet.length());
            meta.ingress_global_timestamp
                .set(&mut fresh, start.as_micros());
            self.keep(&words, &mut fresh, kept);
            self.give_words(words);
            self.again.push(Restart {
                words: fresh,
                packet,
                passes: passes + 1,
            });
            return None;
        }
        self.give_words(words);
        Some(Transmit {
            port,
            packet,
            enqueued,
            start,
            end: start,
            priority,
            enq_qdepth,
            deq_qdepth,
        })
    }

    /// Copies that keep the headers as egress leaves them, and go through egress again.
    fn clone_egress(
        &mut self,
        words: &[u64],
        packet: &Packet,
        arrival: Arrival,
        request: vm::CloneRequest,
    ) {
        let Some(session) = self.session(request.session) else {
            return;
        };
        let mut arrival = arrival;
        arrival.passes += 1;
        if arrival.passes > self.machine.config.max_passes {
            return;
        }
        let mut copy = self.take_words();
        copy.copy_from_slice(words);
        self.keep_headers_only(&mut copy, words, instance::EGRESS_CLONE, self.job.length);
        self.keep(words, &mut copy, request.kept);
        let mut twin = self.copy_packet(packet);
        twin.octets.extend_from_slice(&self.job.octets);
        self.replicate(copy, twin, arrival, &session.replicas, session.truncate);
    }

    /// Emits headers and appends the payload that was not parsed.
    fn deparse(&mut self, words: &mut [u64], packet: &mut Packet) {
        self.machine.output.clear();
        let blocks = self.pipeline.code.blocks;
        self.run(words, blocks.deparser);
        let job = &mut self.job;
        let output = &mut self.machine.output;
        let held = job.octets.len() * 8;
        if job.cursor < held {
            if job.cursor.is_multiple_of(8) {
                output.push_octets(&job.octets[job.cursor / 8..]);
            } else {
                for at in job.cursor..held {
                    output.push(crate::bits::read(&job.octets, at, 1), 1);
                }
            }
        } else {
            packet.elided -= ((job.cursor - held) / 8) as u32;
        }
        output.pad();
        let before = job.octets.len() as u32 + job.elided;
        std::mem::swap(&mut output.octets, &mut job.octets);
        std::mem::swap(&mut packet.octets, &mut job.octets);
        if let Some(most) = job.truncate {
            let held = packet.octets.len() as u32;
            packet.octets.truncate(most as usize);
            packet.elided = packet.elided.min(most.saturating_sub(held));
        }
        let after = packet.length();
        packet.link_octets = (packet.link_octets + after).saturating_sub(before);
    }

    // -- both ---------------------------------------------------------------------------------

    fn drop_packet(
        &mut self,
        cause: DropCause,
        port: u16,
        now: Instant,
        words: Box<[u64]>,
        packet: Packet,
    ) {
        self.drops.count(cause);
        self.tm.stats_mut(port).drops.count(cause);
        self.trace(now, packet.tag, TraceEvent::Drop { cause, port });
        if self.machine.config.report_drops {
            let drop = Drop {
                at: now,
                cause,
                port,
                tag: packet.tag,
            };
            self.machine.events.push_back(Event::Drop(drop));
        }
        self.give_words(words);
        self.recycle(packet);
    }

    fn copy_packet(&mut self, packet: &Packet) -> Packet {
        let mut octets = self.buffer();
        octets.extend_from_slice(&packet.octets);
        Packet { octets, ..*packet }
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
