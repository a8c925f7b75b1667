//! From a queue to the line: egress, checksum update, deparser.

use super::contain::AtHand;
use super::{Arrival, Switch, instance};
use crate::tm::Dequeued;
use crate::trace::TraceEvent;
use crate::vm::{self, Job};
use crate::{DropCause, Packet, Transmit};
use std::mem::take;
use std::panic::{AssertUnwindSafe, catch_unwind};
use units::Instant;

impl Switch {
    /// Everything whose serialisation starts before `now`, or at `now` without having waited.
    pub(super) fn serve_before(&mut self, now: Instant) {
        self.now = self.now.max(now);
        while let Some(start) = self.tm.next_start()
            && (start < now || start == now && !self.tm.next_waits())
            && let Some(sent) = self.serve_one(now)
        {
            self.sent.extend(sent);
        }
    }

    /// Takes the packet that is due first through egress: what is sent of it, if anything. `None` if none
    /// is due.
    #[expect(
        clippy::option_option,
        reason = "two questions: is one due, is it sent"
    )]
    pub(super) fn serve_one(&mut self, now: Instant) -> Option<Option<Transmit>> {
        let next = self.tm.dequeue(now)?;
        let (port, start) = (next.port, next.start);
        let sent = self.egress(next);
        if sent.is_none() {
            self.tm.occupy(port, start, None);
        }
        self.restart(start);
        Some(sent)
    }

    /// Egress, checksum update, deparser, and the line; `None` if the packet is not sent. A panic drops it.
    pub(super) fn egress(&mut self, mut next: Dequeued) -> Option<Transmit> {
        let ingress_port = self.pipeline.code.metadata.ingress_port;
        let at_hand = AtHand {
            block: "egress",
            port: next.port,
            ingress_port: ingress_port.get(&next.queued.words) as u16,
            tag: next.queued.packet.tag,
        };
        let mut arrival = Arrival {
            now: next.start,
            lineage: next.queued.lineage,
        };
        let mut end = None;
        let run = || end = self.run_egress(&mut next, &mut arrival);
        if let Err(payload) = catch_unwind(AssertUnwindSafe(run)) {
            self.panicked(&payload, at_hand, &mut next.queued.packet, &mut arrival);
        }
        let sent = end.map(|end| Transmit {
            port: next.port,
            packet: take(&mut next.queued.packet),
            enqueued: next.queued.enqueued,
            start: next.start,
            end,
            priority: next.priority,
            enq_qdepth: next.queued.enq_qdepth,
            deq_qdepth: next.deq_qdepth,
        });
        self.give_queued(next.queued);
        sent
    }

    /// When the packet's serialisation ends; `None` if it is not sent.
    fn run_egress(&mut self, next: &mut Dequeued, arrival: &mut Arrival) -> Option<Instant> {
        let &mut Dequeued {
            port,
            priority,
            start,
            deq_qdepth,
            ref mut queued,
        } = next;
        let (cursor, length, truncate) = (queued.cursor, queued.length, queued.truncate);
        let enqueued = queued.enqueued;
        let mut words = take(&mut queued.words);
        let packet = &mut queued.packet;
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
        meta.deq_timedelta.set(
            &mut words,
            start.as_micros().saturating_sub(enqueued.as_micros()),
        );
        meta.deq_qdepth.set(&mut words, deq_qdepth as u64);
        meta.packet_length.set(&mut words, length as u64);

        self.begin(
            packet,
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
        if let Some(request) = self.job.clone.take().filter(|_| self.job.abort.is_none()) {
            self.clone_egress(&words, packet, arrival, request);
        }
        let dropped = meta.egress_spec.get(&words) == self.machine.config.drop_port as u64;
        let drop = dropped.then_some(DropCause::Egress);
        if let Some(cause) = self.job.abort.or(drop) {
            std::mem::swap(&mut self.job.octets, &mut packet.octets);
            self.drop_packet(cause, port, arrival, words, take(packet));
            return None;
        }
        self.run(&mut words, blocks.compute);
        self.deparse(&mut words, packet);
        if let Some(cause) = self.job.abort {
            self.drop_packet(cause, port, arrival, words, take(packet));
            return None;
        }
        if let Some(kept) = self.job.recirculate.take() {
            let mut fresh = self.fresh(&words, instance::RECIRCULATED, packet.length());
            meta.ingress_global_timestamp
                .set(&mut fresh, start.as_micros());
            self.keep(&words, &mut fresh, kept);
            self.give_words(words);
            self.restart_later(fresh, take(packet), arrival);
            return None;
        }
        self.families.leave(&mut arrival.lineage);
        self.give_words(words);
        let end = self.tm.occupy(port, start, Some(packet.link_octets));
        let stats = self.tm.stats_mut(port);
        stats.tx_packets += 1;
        stats.tx_octets += packet.link_octets as u64;
        Some(end)
    }

    /// Copies that keep the headers as egress leaves them, and go through egress again.
    pub(super) fn clone_egress(
        &mut self,
        words: &[u64],
        packet: &Packet,
        arrival: &mut Arrival,
        request: vm::CloneRequest,
    ) {
        let Some(session) = self.session(request.session) else {
            return;
        };
        let mut copy = self.take_words();
        copy.copy_from_slice(words);
        self.keep_headers_only(&mut copy, words, instance::EGRESS_CLONE, self.job.length);
        self.keep(words, &mut copy, request.kept);
        let mut twin = self.copy_packet(packet);
        twin.octets.extend_from_slice(&self.job.octets);
        // A clone may be cloned again, but not for ever.
        if arrival.lineage.passes() >= self.machine.config.max_passes {
            let port = self.pipeline.code.metadata.egress_port.get(words) as u16;
            self.note_drop(DropCause::TooManyPasses, port, arrival.now, twin.tag);
            self.give_words(copy);
            return self.recycle(twin);
        }
        let mut next = Arrival {
            lineage: arrival.lineage.next_pass(),
            ..*arrival
        };
        self.replicate(copy, twin, &mut next, &session.replicas, session.truncate);
        arrival.lineage.join(next.lineage);
    }

    /// Emits headers and appends the payload that was not parsed.
    pub(super) fn deparse(&mut self, words: &mut [u64], packet: &mut Packet) {
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
}
