//! From a queue to the line: parser, egress, deparser, and what egress decided (6.5).

use crate::paths::{self, again, session, to_egress};
use crate::{Switch, ports};
use p4_vm::{DropCause, Job, Packet, TraceEvent};
use std::mem::take;
use switch::{Arrival, Dequeued};
use units::Instant;

/// When the packet's serialisation ends; `None` if it is not sent.
pub fn run(switch: &mut Switch, next: &mut Dequeued, arrival: &mut Arrival) -> Option<Instant> {
    let &mut Dequeued {
        port: queue,
        priority,
        start,
        deq_qdepth,
        ref mut queued,
        ..
    } = next;
    let enqueued = queued.enqueued;
    let mut words = take(&mut queued.words);
    let packet = &mut queued.packet;
    let waited = TraceEvent::Dequeue {
        port: queue,
        priority,
        depth: deq_qdepth,
        enqueued,
    };
    switch.machine.trace(start, packet.tag, waited);

    let meta = switch.layout().egress;
    let blocks = switch.layout().blocks;
    let port = ports::of_psa(queue);
    meta.parser_port.set(&mut words, port);
    meta.port.set(&mut words, port);
    meta.deparser_port.set(&mut words, port);
    meta.timestamp.set(&mut words, start.as_micros());
    switch.begin(
        packet,
        Job {
            length: packet.length(),
            now: start,
            ..Job::default()
        },
    );
    paths::run(switch, &mut words, blocks.egress_parser);
    meta.parser_error.set(&mut words, switch.job.error);
    if switch.job.abort.is_none() {
        paths::run(switch, &mut words, blocks.egress);
    }
    if let Some(cause) = switch.job.abort {
        std::mem::swap(&mut switch.job.octets, &mut packet.octets);
        switch.drop_packet(cause, queue, arrival, words, take(packet));
        return None;
    }
    paths::clear_sums(switch, &mut words);
    switch.deparse(&mut words, blocks.egress_deparser, packet, None);
    if let Some(cause) = switch.job.abort {
        switch.drop_packet(cause, queue, arrival, words, take(packet));
        return None;
    }
    if meta.clone.get(&words) != 0 {
        clone(switch, &words, packet, arrival, queue);
    }
    if meta.drop.get(&words) != 0 {
        switch.drop_packet(DropCause::Egress, queue, arrival, words, take(packet));
        return None;
    }
    if port == ports::RECIRCULATE {
        let along = switch.layout().along.recirculate.clone();
        let fresh = again(switch, &words, start, (port, paths::RECIRCULATE), along);
        switch.give_words(words);
        switch.restart_later(fresh, take(packet), arrival);
        return None;
    }
    switch.leave(arrival);
    switch.give_words(words);
    Some(switch.send(queue, start, packet))
}

/// Copies of the packet as it leaves the deparser, which go through egress again.
fn clone(switch: &mut Switch, words: &[u64], packet: &Packet, arrival: &mut Arrival, queue: u16) {
    let meta = switch.layout().egress;
    let Some(session) = session(switch, meta.clone_session.get(words)) else {
        return;
    };
    // A clone may be cloned again, but not for ever.
    if arrival.lineage.passes() >= switch.config().max_passes {
        return switch.note_drop(DropCause::TooManyPasses, queue, arrival.now, packet.tag);
    }
    let mut copy = switch.copy_packet(packet);
    if let Some(most) = session.truncate {
        copy.truncate(most);
    }
    let along = switch.layout().along.clone_e2e.clone();
    let fresh = to_egress(switch, words, paths::CLONE_E2E, along);
    let mut next = Arrival {
        lineage: arrival.lineage.next_pass(),
        ..*arrival
    };
    switch.replicate(fresh, copy, &mut next, &session.replicas, None);
    arrival.lineage.join(next.lineage);
}
