//! From a queue to the line: parser, match-action units, deparser.

use crate::blocks::{Layout, Own};
use crate::{Switch, fate, parser_errors};
use p4_vm::{DropCause, Job, Packet, TraceEvent};
use std::mem::{swap, take};
use switch::{Arrival, Dequeued};
use units::Instant;

/// When the packet's serialisation ends; `None` if it is not sent.
pub fn run(switch: &mut Switch, next: &mut Dequeued, arrival: &mut Arrival) -> Option<Instant> {
    let values = metadata(switch.layout(), next);
    let &mut Dequeued {
        port,
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
        port,
        priority,
        depth: deq_qdepth,
        enqueued,
    };
    switch.machine.trace(start, packet.tag, waited);
    if words[switch.layout().own.bypass_egress as usize] != 0 {
        switch.give_words(words);
        return Some(leave(switch, port, start, packet, arrival));
    }

    let pipe = switch.layout().pipe(port);
    let (meta, blocks) = (pipe.egress, pipe.blocks);
    let length = packet.length();
    switch.layout().egress_prefix.prepend(packet, values);
    switch.begin(
        packet,
        Job {
            length,
            now: start,
            ..Job::default()
        },
    );
    meta.timestamp.set(&mut words, start.as_nanos());
    switch.run(&mut words, blocks.egress_parser);
    // A packet with errors continues.
    let error = parser_errors::of(switch);
    meta.parser_error.set(&mut words, error);
    if switch.job.abort.is_none() {
        switch.run(&mut words, blocks.egress);
    }
    if let Some(cause) = switch.job.abort {
        swap(&mut switch.job.octets, &mut packet.octets);
        switch.drop_packet(cause, port, arrival, words, take(packet));
        return None;
    }
    switch.deparse(&mut words, blocks.egress_deparser, packet, None);
    if let Some(cause) = switch.job.abort {
        switch.drop_packet(cause, port, arrival, words, take(packet));
        return None;
    }
    if meta.drop.get(&words) & fate::DROP != 0 {
        switch.drop_packet(DropCause::Egress, port, arrival, words, take(packet));
        return None;
    }
    switch.give_words(words);
    Some(leave(switch, port, start, packet, arrival))
}

/// Values of `egress_intrinsic_metadata_t`, in the order of the prefix. No congestion is signalled: thresholds of the
/// traffic manager are not configured.
fn metadata(layout: &Layout, next: &Dequeued) -> [u64; 14] {
    let Own {
        class_of_service,
        replication,
        first_replica,
        ..
    } = layout.own;
    let queued = &next.queued;
    let word = |slot: u32| queued.words[slot as usize];
    let enqueued = queued.enqueued.as_nanos();
    [
        next.port.into(),
        queued.enq_cells.into(),
        0,
        enqueued,
        next.deq_cells.into(),
        0,
        0,
        next.start.as_nanos() - enqueued,
        word(replication),
        word(first_replica),
        next.priority.into(),
        word(class_of_service),
        0,
        queued.packet.length().into(),
    ]
}

/// Sends the packet: when its serialisation ends.
fn leave(
    switch: &mut Switch,
    port: u16,
    start: Instant,
    packet: &Packet,
    arrival: &mut Arrival,
) -> Instant {
    switch.leave(arrival);
    switch.send(port, start, packet)
}
