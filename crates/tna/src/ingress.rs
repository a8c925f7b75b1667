//! From a port to the traffic manager: parser, match-action units, deparser.

use crate::{Switch, Tna, copies, externs, fate, generator, length, parser_errors, ports};
use p4_vm::{DropCause, Job, Packet};
use std::mem::{swap, take};
use switch::{Arrival, Forwarding, Frame};

/// Runs ingress on a packet, and passes it to the traffic manager or to ingress again.
pub fn run(switch: &mut Switch, mut words: Frame, packet: &mut Packet, arrival: &mut Arrival) {
    let port = Tna::ingress_port(switch.layout(), &words);
    let timestamp = arrival.now.as_nanos();
    let layout = switch.layout();
    let prefix = layout.ingress_prefix.octets() + layout.port_metadata;
    let resubmitted = words[layout.own.resubmitted as usize];
    let zeros = match resubmitted {
        0 => layout.port_metadata,
        _ => 0,
    };
    let values = [resubmitted, port.into(), timestamp];
    layout.ingress_prefix.prepend(packet, values, zeros);
    let length = length::of_frame(packet) - prefix as u32;
    let copied = layout.mirrors || layout.resubmits;
    let pipe = switch.layout().pipe(port);
    let (meta, blocks, takes_errors) = (pipe.ingress, pipe.blocks, pipe.takes_errors);
    switch.begin(
        packet,
        Job {
            length,
            now: arrival.now,
            ..Job::default()
        },
    );
    meta.timestamp.set(&mut words, timestamp);
    meta.port.set(&mut words, ports::NONE);
    externs::begin(switch.layout(), &mut words);
    switch.run(&mut words, blocks.ingress_parser);
    externs::deposit(switch.layout(), &mut words, &switch.job);
    let error = parser_errors::of(switch);
    meta.parser_error.set(&mut words, error);
    let refused = error != 0 && (!takes_errors || error & parser_errors::NO_MATCH != 0);
    if refused && switch.job.abort.is_none() {
        switch.job.abort = Some(DropCause::Ingress);
    }
    if switch.job.abort.is_none() {
        switch.run(&mut words, blocks.ingress);
    }
    if let Some(cause) = switch.job.abort {
        swap(&mut switch.job.octets, &mut packet.octets);
        return switch.drop_packet(cause, port, arrival, words, take(packet));
    }
    let original = copied.then(|| copies::as_it_came(switch, packet, prefix));
    switch.deparse(&mut words, blocks.ingress_deparser, packet, None);
    if switch.layout().generates
        && let Some(context) = switch.architecture.generate.take()
    {
        let part = (
            meta.generator_line.get(&words),
            meta.generator_octets.get(&words),
        );
        generator::asked(switch, arrival.now, port, &context, part);
    }
    if let Some(cause) = switch.job.abort {
        return switch.drop_packet(cause, port, arrival, words, take(packet));
    }
    let padding = switch.job.padding.into();
    if let Some(original) = original
        && copies(switch, &words, packet, original, arrival)
    {
        switch.give_packet(take(packet));
        return switch.give_words(words);
    }
    words[switch.layout().own.padding as usize] = padding;
    fate::decide(switch, words, take(packet), arrival, port);
}

/// Makes the copies that the deparser requested. Returns whether the packet is resubmitted and goes nowhere else.
fn copies(
    switch: &mut Switch,
    words: &[u64],
    packet: &Packet,
    original: Packet,
    arrival: &mut Arrival,
) -> bool {
    let port = Tna::ingress_port(switch.layout(), words);
    let meta = switch.layout().pipe(port).ingress;
    let Tna {
        mirror, resubmit, ..
    } = take(&mut switch.architecture);
    if let Some(request) = mirror {
        // Tofino 1 mirrors the incoming packet.
        let copy = match meta.mirror_io_select.get(words) {
            0 => switch.copy_packet(&original),
            _ => switch.copy_packet(packet),
        };
        copies::mirror(switch, &request, copy, arrival, port);
    }
    let resubmit = resubmit.filter(|_| meta.drop.get(words) & fate::DROP == 0);
    match &resubmit {
        Some(request) => copies::resubmit(switch, request, original, arrival, port),
        None => switch.give_packet(original),
    }
    resubmit.is_some()
}
