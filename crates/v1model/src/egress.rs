//! From a queue to the line: egress, checksum update, deparser.

use crate::Switch;
use crate::blocks::DEPARTURE;
use crate::copies::{fresh, instance, keep, keep_headers_only, session};
use crate::externs::CloneRequest;
use p4_vm::{DropCause, Job, Packet, TraceEvent};
use std::mem::take;
use switch::{Arrival, Dequeued, Queued};
use units::Instant;

/// Runs egress on a packet. Returns the end of its serialisation, or `None` if it is not sent.
#[inline]
pub fn run(switch: &mut Switch, next: &mut Dequeued, arrival: &mut Arrival) -> Option<Instant> {
    let &mut Dequeued {
        port,
        priority,
        start,
        deq_qdepth,
        absent,
        ref mut queued,
        ..
    } = next;
    let (cursor, length, truncate) = (queued.cursor, queued.length, queued.truncate);
    let enqueued = queued.enqueued;
    let Queued { words, packet, .. } = &mut **queued;
    let words = &mut **words;
    let waited = || TraceEvent::Dequeue {
        port,
        priority,
        depth: deq_qdepth,
        enqueued,
    };
    switch.machine.trace(start, packet.tag, waited);

    let layout = switch.layout();
    let meta = &layout.metadata;
    let drop_port = words[layout.drop_port as usize];
    meta.egress_port.set(words, port as u64);
    // A value other than the drop port, so that only egress itself can drop the packet.
    meta.egress_spec.set(words, drop_port + 1);
    meta.egress_global_timestamp.set(words, start.as_micros());
    meta.deq_timedelta.set(
        words,
        start.as_micros().saturating_sub(enqueued.as_micros()),
    );
    meta.deq_qdepth.set(words, deq_qdepth as u64);
    meta.qid.set(words, u64::from(priority));
    meta.packet_length.set(words, length as u64);

    switch.begin(
        packet,
        Job {
            cursor,
            length,
            now: start,
            ..Job::default()
        },
    );
    switch.architecture.truncate = truncate;
    switch.begin_deparser();
    let on = switch.run_all(words, DEPARTURE);
    if on && !switch.pipeline().has_calls() {
        if absent {
            switch.drop_in_egress(DropCause::UnknownPort, port, arrival, take(packet));
            return None;
        }
        switch.finish(packet, truncate);
        switch.leave(arrival);
        return Some(switch.send(port, start, packet));
    }
    if let Some(request) = switch.architecture.clone.take()
        && switch.job.abort.is_none()
    {
        clone_egress(switch, words, packet, arrival, request);
    }
    let meta = switch.layout().metadata;
    let dropped = meta.egress_spec.get(words) == drop_port;
    let drop = dropped.then_some(DropCause::Egress);
    if let Some(cause) = switch.job.abort.or(drop) {
        std::mem::swap(&mut switch.job.octets, &mut packet.octets);
        switch.drop_in_egress(cause, port, arrival, take(packet));
        return None;
    }
    let blocks = switch.layout().blocks;
    switch.run(words, blocks.compute);
    let truncate = switch.architecture.truncate;
    switch.deparse(words, blocks.deparser, packet, truncate);
    if let Some(cause) = switch.job.abort {
        switch.drop_in_egress(cause, port, arrival, take(packet));
        return None;
    }
    if let Some(kept) = switch.architecture.recirculate.take() {
        let mut fresh = fresh(switch, words, instance::RECIRCULATED, packet.length());
        meta.ingress_global_timestamp
            .set(&mut fresh, start.as_micros());
        keep(switch, words, &mut fresh, kept);
        switch.restart_later(fresh, take(packet), arrival);
        return None;
    }
    if absent {
        switch.drop_in_egress(DropCause::UnknownPort, port, arrival, take(packet));
        return None;
    }
    switch.leave(arrival);
    Some(switch.send(port, start, packet))
}

/// Copies that keep the headers as egress leaves them, those in the user metadata too, and go through egress again.
fn clone_egress(
    switch: &mut Switch,
    words: &[u64],
    packet: &Packet,
    arrival: &mut Arrival,
    request: CloneRequest,
) {
    let Some(session) = session(switch, request.session) else {
        return;
    };
    let mut copy = switch.take_words();
    copy.copy_from_slice(words);
    let length = switch.job.length;
    keep_headers_only(switch, &mut copy, words, instance::EGRESS_CLONE, length);
    for &(slot, words_of_header) in &switch.layout().metadata_headers {
        let header = slot as usize..(slot + words_of_header) as usize;
        copy[header.clone()].copy_from_slice(&words[header]);
    }
    keep(switch, words, &mut copy, request.kept);
    let mut twin = switch.copy_packet(packet);
    twin.octets.extend_from_slice(&switch.job.octets);
    // A clone may be cloned again, but not without limit.
    if arrival.lineage.passes() >= switch.config().max_passes {
        let port = switch.layout().metadata.egress_port.get(words) as u16;
        switch.note_drop(DropCause::TooManyPasses, port, arrival.now, twin.tag);
        switch.give_words(copy);
        return switch.give_packet(twin);
    }
    let mut next = Arrival {
        lineage: arrival.lineage.next_pass(),
        ..*arrival
    };
    switch.replicate(copy, twin, &mut next, &session.replicas, session.truncate);
    arrival.lineage.join(next.lineage);
}
