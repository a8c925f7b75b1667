//! From a port to the traffic manager: parser, match-action units, deparser.

use crate::{Switch, fate, parser_errors, ports};
use p4_vm::{DropCause, Job, Packet};
use std::mem::{swap, take};
use switch::{Arrival, Forwarding};

use crate::Tna;

/// Takes a packet to the traffic manager, or to ingress again.
pub fn run(switch: &mut Switch, mut words: Box<[u64]>, packet: &mut Packet, arrival: &mut Arrival) {
    let port = Tna::ingress_port(switch.layout(), &words);
    let length = packet.length();
    let timestamp = arrival.now.as_nanos();
    switch
        .layout()
        .ingress_prefix
        .prepend(packet, [0, port.into(), timestamp]);
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
    switch.run(&mut words, blocks.ingress_parser);
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
    switch.deparse(&mut words, blocks.ingress_deparser, packet, None);
    if let Some(cause) = switch.job.abort {
        return switch.drop_packet(cause, port, arrival, words, take(packet));
    }
    fate::decide(switch, words, take(packet), arrival, port);
}
