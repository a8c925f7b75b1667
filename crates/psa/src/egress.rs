//! From a queue to the line: parser, egress, deparser, and the decision of egress (6.5).

use crate::paths::{self, again, session, to_egress};
use crate::{Switch, ports};
use p4_vm::{DropCause, Job, Packet, TraceEvent};
use std::mem::take;
use switch::{Arrival, Dequeued, Queued};
use units::Instant;

/// Runs egress on a packet. Returns the end of its serialisation, or `None` if it is not sent.
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
    let Queued { words, packet, .. } = &mut **queued;
    let words = &mut **words;
    let waited = || TraceEvent::Dequeue {
        port: queue,
        priority,
        depth: deq_qdepth,
        enqueued,
    };
    switch.machine.trace(start, packet.tag, waited);

    let meta = switch.layout().egress;
    let blocks = switch.layout().blocks;
    let port = ports::of_psa(queue);
    meta.parser_port.set(words, port);
    meta.port.set(words, port);
    meta.deparser_port.set(words, port);
    meta.timestamp.set(words, start.as_micros());
    switch.begin(
        packet,
        Job {
            length: packet.length(),
            now: start,
            ..Job::default()
        },
    );
    paths::run(switch, words, blocks.egress_parser);
    meta.parser_error.set(words, switch.job.error);
    if switch.job.abort.is_none() {
        paths::run(switch, words, blocks.egress);
    }
    if let Some(cause) = switch.job.abort {
        std::mem::swap(&mut switch.job.octets, &mut packet.octets);
        switch.drop_in_egress(cause, queue, arrival, take(packet));
        return None;
    }
    paths::clear_sums(switch, words);
    switch.deparse(words, blocks.egress_deparser, packet, None);
    if let Some(cause) = switch.job.abort {
        switch.drop_in_egress(cause, queue, arrival, take(packet));
        return None;
    }
    if meta.clone.get(words) != 0 {
        clone(switch, words, packet, arrival, queue);
    }
    if meta.drop.get(words) != 0 {
        switch.drop_in_egress(DropCause::Egress, queue, arrival, take(packet));
        return None;
    }
    if port == ports::RECIRCULATE {
        let along = switch.layout().along.recirculate.clone();
        let fresh = again(switch, words, start, (port, paths::RECIRCULATE), along);
        switch.restart_later(fresh, take(packet), arrival);
        return None;
    }
    switch.leave(arrival);
    Some(switch.send(queue, start, packet))
}

/// Makes copies of the packet as it leaves the deparser, and enqueues them for egress.
fn clone(switch: &mut Switch, words: &[u64], packet: &Packet, arrival: &mut Arrival, queue: u16) {
    let meta = switch.layout().egress;
    let Some(session) = session(switch, meta.clone_session.get(words)) else {
        return;
    };
    // A clone may be cloned again, but not without limit.
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
