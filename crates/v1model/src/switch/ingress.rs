//! From a port to a queue: parser, checksum verification, ingress, and what ingress decided.

use super::contain::AtHand;
use super::{Arrival, Restart, Switch, instance};
use crate::tm::Queued;
use crate::trace::TraceEvent;
use crate::vm::{self, Job, Kept};
use crate::{DropCause, Packet};
use std::mem::take;
use std::panic::{AssertUnwindSafe, catch_unwind};
use units::Instant;

impl Switch {
    /// Parser, checksum verification, ingress, and what ingress decided. A panic drops the packet.
    pub(super) fn ingress(&mut self, words: Box<[u64]>, mut packet: Packet, mut arrival: Arrival) {
        let port = self.pipeline.code.metadata.ingress_port.get(&words) as u16;
        let at_hand = AtHand {
            block: "ingress",
            port,
            ingress_port: port,
            tag: packet.tag,
        };
        let run = || self.run_ingress(words, &mut packet, &mut arrival);
        if let Err(payload) = catch_unwind(AssertUnwindSafe(run)) {
            self.panicked(&payload, at_hand, &mut packet, &mut arrival);
        }
    }

    fn run_ingress(&mut self, mut words: Box<[u64]>, packet: &mut Packet, arrival: &mut Arrival) {
        self.parse(&mut words, packet, arrival.now);
        if self.job.abort.is_none() {
            let blocks = self.pipeline.code.blocks;
            self.run(&mut words, blocks.ingress);
        }
        std::mem::swap(&mut self.job.octets, &mut packet.octets);

        let meta = self.pipeline.code.metadata;
        let port = meta.ingress_port.get(&words) as u16;
        if let Some(cause) = self.job.abort {
            return self.drop_packet(cause, port, arrival, words, take(packet));
        }
        if let Some(request) = self.job.clone.take() {
            self.clone_ingress(&words, packet, arrival, request);
        }
        if let Some(kept) = self.job.resubmit.take() {
            return self.resubmit(words, take(packet), arrival, kept);
        }
        let group = meta.mcast_grp.get(&words) as u16;
        if group != 0 {
            let Some(replicas) = self.multicast.get(&group).cloned() else {
                let cause = DropCause::NoMulticastGroup;
                return self.drop_packet(cause, port, arrival, words, take(packet));
            };
            meta.instance_type.set(&mut words, instance::REPLICATED);
            let truncate = self.job.truncate;
            self.replicate(words, take(packet), arrival, &replicas, truncate);
            // The replicas are there in its place.
            return self.families.leave(&mut arrival.lineage);
        }
        let egress = meta.egress_spec.get(&words) as u16;
        if egress == self.machine.config.drop_port {
            return self.drop_packet(DropCause::Ingress, port, arrival, words, take(packet));
        }
        meta.instance_type.set(&mut words, instance::NORMAL);
        let truncate = self.job.truncate;
        self.enqueue(words, take(packet), arrival, egress, truncate);
    }

    /// Runs the parser and verifies checksums. The packet's octets are the job's until they are
    /// swapped back.
    pub(super) fn parse(&mut self, words: &mut [u64], packet: &mut Packet, now: Instant) {
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

    /// Copies of the packet as it came in, parsed again, that go to egress.
    pub(super) fn clone_ingress(
        &mut self,
        words: &[u64],
        packet: &Packet,
        arrival: &mut Arrival,
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

    /// Sends the packet as it came in through ingress again.
    pub(super) fn resubmit(
        &mut self,
        words: Box<[u64]>,
        packet: Packet,
        arrival: &mut Arrival,
        kept: Kept,
    ) {
        let meta = self.pipeline.code.metadata;
        let mut fresh = self.fresh(&words, instance::RESUBMITTED, packet.length());
        let arrived = meta.ingress_global_timestamp.get(&words);
        meta.ingress_global_timestamp.set(&mut fresh, arrived);
        self.keep(&words, &mut fresh, kept);
        self.give_words(words);
        self.restart_later(fresh, packet, arrival);
    }

    /// Hands a packet to the traffic manager.
    pub(super) fn enqueue(
        &mut self,
        mut words: Box<[u64]>,
        packet: Packet,
        arrival: &mut Arrival,
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
        let mut queued = self.free_queued.pop().unwrap_or_default();
        *queued = Queued {
            words,
            packet,
            cursor: self.job.cursor,
            length: self.job.length,
            truncate,
            lineage: arrival.lineage.take(),
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
            Err((cause, mut queued)) => {
                let (words, packet) = (take(&mut queued.words), take(&mut queued.packet));
                arrival.lineage = queued.lineage;
                self.give_queued(queued);
                self.drop_packet(cause, port, arrival, words, packet);
            }
        }
    }

    /// Has a packet go through ingress again.
    pub(super) fn restart_later(
        &mut self,
        words: Box<[u64]>,
        packet: Packet,
        arrival: &mut Arrival,
    ) {
        let lineage = arrival.lineage.take().next_pass();
        self.again.push(Restart {
            words,
            packet,
            lineage,
        });
    }

    /// Sends packets through ingress again that asked for it.
    pub(super) fn restart(&mut self, now: Instant) {
        while let Some(Restart {
            words,
            packet,
            lineage,
        }) = self.again.pop()
        {
            let mut arrival = Arrival { now, lineage };
            if lineage.passes() > self.machine.config.max_passes {
                let port = self.pipeline.code.metadata.ingress_port.get(&words) as u16;
                self.drop_packet(DropCause::TooManyPasses, port, &mut arrival, words, packet);
                continue;
            }
            self.ingress(words, packet, arrival);
        }
    }
}
