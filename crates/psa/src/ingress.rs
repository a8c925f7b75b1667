//! From a port to a queue: parser, ingress, deparser, and the decision of ingress (6.3).

use crate::paths::{self, again, session, to_egress};
use crate::{Switch, ports};
use p4_vm::{DropCause, Job, Packet};
use std::mem::take;
use switch::{Arrival, Frame};

/// Classes of service, which limit the number of queues of a port.
const CLASSES: u64 = 8;

/// Runs ingress on a packet, and passes the packet to the traffic manager or to ingress again.
pub fn run(switch: &mut Switch, mut words: Frame, packet: &mut Packet, arrival: &mut Arrival) {
    let meta = switch.layout().ingress;
    let blocks = switch.layout().blocks;
    switch.begin(
        packet,
        Job {
            length: packet.length(),
            now: arrival.now,
            ..Job::default()
        },
    );
    paths::run(switch, &mut words, blocks.ingress_parser);
    // A packet that the parser rejects also continues.
    meta.parser_error.set(&mut words, switch.job.error);
    if switch.job.abort.is_none() {
        paths::run(switch, &mut words, blocks.ingress);
    }
    let port = meta.parser_port.get(&words);
    let counted_at = ports::of_switch(port).unwrap_or_default();
    if let Some(cause) = switch.job.abort {
        std::mem::swap(&mut switch.job.octets, &mut packet.octets);
        return switch.drop_packet(cause, counted_at, arrival, words, take(packet));
    }

    let dropped = meta.drop.get(&words) != 0;
    let resubmitted = !dropped && meta.resubmit.get(&words) != 0;
    let clone = match meta.clone.get(&words) {
        0 => None,
        _ => session(switch, meta.clone_session.get(&words)),
    };
    // Clones and resubmitted packets have the content that the packet had on arrival.
    let mut copies =
        [clone.is_some(), resubmitted].map(|wanted| wanted.then(|| as_it_came(switch, packet)));
    paths::clear_sums(switch, &mut words);
    switch.deparse(&mut words, blocks.ingress_deparser, packet, None);
    if let Some(cause) = switch.job.abort {
        return switch.drop_packet(cause, counted_at, arrival, words, take(packet));
    }
    if let (Some(session), Some(mut copy)) = (clone, copies[0].take()) {
        if let Some(most) = session.truncate {
            copy.truncate(most);
        }
        let along = switch.layout().along.clone_i2e.clone();
        let fresh = to_egress(switch, &words, paths::CLONE_I2E, along);
        switch.replicate(fresh, copy, arrival, &session.replicas, None);
    }
    if let Some(copy) = copies[1].take() {
        let along = switch.layout().along.resubmit.clone();
        let fresh = again(switch, &words, arrival.now, (port, paths::RESUBMIT), along);
        switch.give_words(words);
        switch.give_packet(take(packet));
        return switch.restart_later(fresh, copy, arrival);
    }
    if dropped {
        return switch.drop_packet(DropCause::Ingress, counted_at, arrival, words, take(packet));
    }
    to_queue(switch, words, packet, arrival, counted_at);
}

/// Sends the packet to a multicast group or to one port.
fn to_queue(
    switch: &mut Switch,
    words: Frame,
    packet: &mut Packet,
    arrival: &mut Arrival,
    counted_at: u16,
) {
    let meta = switch.layout().ingress;
    let group = meta.multicast_group.get(&words);
    let path = match group {
        0 => paths::NORMAL_UNICAST,
        _ => paths::NORMAL_MULTICAST,
    };
    let along = switch.layout().along.normal.clone();
    let mut fresh = to_egress(switch, &words, path, along);
    let class = match meta.class_of_service.get(&words) {
        class @ 0..CLASSES => class,
        // A class that is not supported.
        _ => 0,
    };
    switch
        .layout()
        .egress
        .class_of_service
        .set(&mut fresh, class);
    let port = meta.egress_port.get(&words);
    switch.give_words(words);
    if group != 0 {
        let group = u16::try_from(group).ok();
        let Some(replicas) = group.and_then(|group| switch.replication().group(group).cloned())
        else {
            let cause = DropCause::NoMulticastGroup;
            return switch.drop_packet(cause, counted_at, arrival, fresh, take(packet));
        };
        switch.replicate(fresh, take(packet), arrival, &replicas, None);
        // The replicas replace the packet.
        return switch.leave(arrival);
    }
    let Some(queue) = ports::of_switch(port) else {
        let cause = DropCause::UnknownPort;
        return switch.drop_packet(cause, counted_at, arrival, fresh, take(packet));
    };
    switch.enqueue(fresh, take(packet), arrival, queue, None);
}

/// A copy of the current packet as it arrived.
fn as_it_came(switch: &mut Switch, packet: &Packet) -> Packet {
    let mut copy = switch.copy_packet(packet);
    copy.octets.extend_from_slice(&switch.job.octets);
    copy
}
