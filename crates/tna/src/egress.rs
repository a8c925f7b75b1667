//! From a queue to the line: parser, match-action units, deparser.

use crate::blocks::{Layout, Own};
use crate::{Switch, Tna, copies, externs, fate, length, parser_errors, ports};
use p4_vm::{DropCause, Job, NONE, Packet, TraceEvent};
use std::mem::{swap, take};
use switch::{Arrival, Dequeued, Forwarding, Queued};
use units::Instant;

/// Runs egress on a packet. Returns the end of its serialisation, or `None` if it is not sent.
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
    let Queued { words, packet, .. } = &mut **queued;
    let words = &mut **words;
    let waited = || TraceEvent::Dequeue {
        port,
        priority,
        depth: deq_qdepth,
        enqueued,
    };
    switch.machine.trace(start, packet.tag, waited);
    if words[switch.layout().own.bypass_egress as usize] != 0 {
        return leave(switch, port, start, packet, arrival);
    }

    let pipe = switch.layout().pipe(port);
    let (meta, blocks) = (pipe.egress, pipe.blocks);
    let length = length::of_frame(packet);
    let layout = switch.layout();
    let prefix = layout.egress_prefix.octets();
    layout.egress_prefix.prepend(packet, values, 0);
    let (mirrors, padding) = (layout.mirrors, layout.own.padding);
    switch.begin(
        packet,
        Job {
            length,
            padding: words[padding as usize] as u8,
            now: start,
            ..Job::default()
        },
    );
    meta.timestamp.set(words, start.as_nanos());
    externs::begin(switch.layout(), words);
    switch.run(words, blocks.egress_parser);
    externs::deposit(switch.layout(), words, &switch.job);
    // A packet with errors also continues.
    let error = parser_errors::of(switch);
    meta.parser_error.set(words, error);
    if switch.job.abort.is_none() {
        switch.run(words, blocks.egress);
    }
    if let Some(cause) = switch.job.abort {
        swap(&mut switch.job.octets, &mut packet.octets);
        switch.drop_in_egress(cause, port, arrival, take(packet));
        return None;
    }
    // Tofino 1 mirrors the outgoing packet.
    let may_mirror_incoming = mirrors && meta.mirror_io_select.slot != NONE;
    let incoming = may_mirror_incoming.then(|| copies::as_it_came(switch, packet, prefix));
    switch.deparse(words, blocks.egress_deparser, packet, None);
    if let Some(cause) = switch.job.abort {
        switch.drop_in_egress(cause, port, arrival, take(packet));
        return None;
    }
    if mirrors {
        mirror(switch, words, packet, incoming, arrival, port);
    }
    if meta.drop.get(words) & fate::DROP != 0 {
        if words[switch.layout().own.deflected as usize] != 0 {
            // It was counted as dropped at the queue that refused it.
            switch.leave(arrival);
            switch.give_packet(take(packet));
            return None;
        }
        switch.drop_in_egress(DropCause::Egress, port, arrival, take(packet));
        return None;
    }
    leave(switch, port, start, packet, arrival)
}

/// Creates the mirrored packet that the deparser requested. It goes through egress again.
fn mirror(
    switch: &mut Switch,
    words: &[u64],
    packet: &Packet,
    incoming: Option<Packet>,
    arrival: &mut Arrival,
    port: u16,
) {
    let meta = switch.layout().pipe(port).egress;
    let wanted = take(&mut switch.architecture).mirror;
    if let Some(request) = wanted
        && meta.drop.get(words) & fate::NO_MIRROR == 0
        && copies::may_mirror(switch, packet, arrival, port)
    {
        let copy = match (&incoming, meta.mirror_io_select.get(words)) {
            (Some(incoming), 0) => switch.copy_packet(incoming),
            _ => switch.copy_packet(packet),
        };
        let ingress_port = Tna::ingress_port(switch.layout(), words);
        let mut next = Arrival {
            lineage: arrival.lineage.next_pass(),
            ..*arrival
        };
        copies::mirror(switch, &request, copy, &mut next, ingress_port);
        arrival.lineage.join(next.lineage);
    }
    if let Some(incoming) = incoming {
        switch.give_packet(incoming);
    }
}

/// Values of `egress_intrinsic_metadata_t`, in the order of the prefix. No congestion is signalled, because the
/// thresholds of the traffic manager are not configured.
fn metadata(layout: &Layout, next: &Dequeued) -> [u64; 14] {
    let Own {
        class_of_service,
        replication,
        first_replica,
        deflected,
        length,
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
        word(deflected),
        word(length),
    ]
}

/// Sends the packet, or recirculates it if the port is a recirculation port. Returns the end of its serialisation.
fn leave(
    switch: &mut Switch,
    port: u16,
    start: Instant,
    packet: &mut Packet,
    arrival: &mut Arrival,
) -> Option<Instant> {
    if ports::recirculates(port, switch.layout().generation) {
        copies::recirculate(switch, take(packet), arrival, port);
        return None;
    }
    switch.leave(arrival);
    Some(switch.send(port, start, packet))
}
