//! Packets that a deparser requests in addition to its own: mirrored and resubmitted ones.

use crate::requests::Request;
use crate::{Switch, Tna, generator, length, prefix};
use p4_vm::{DropCause, Packet};
use switch::{Arrival, Forwarding};

/// A copy of the current packet as it was before the hardware prepended `prefix` octets.
pub fn as_it_came(switch: &mut Switch, packet: &Packet, prefix: usize) -> Packet {
    let mut copy = switch.copy_packet(packet);
    copy.octets.extend_from_slice(&switch.job.octets[prefix..]);
    copy.link_octets -= prefix as u32;
    copy
}

/// Sends a mirrored packet to the destination of its session. Drops it if there is no such session.
pub fn mirror(
    switch: &mut Switch,
    request: &Request,
    mut copy: Packet,
    arrival: &mut Arrival,
    ingress_port: u16,
) {
    let Some(session) = switch.replication().session(request.session).cloned() else {
        return switch.give_packet(copy);
    };
    prefix::prepend(&mut copy, request.header());
    if let Some(most) = session.truncate {
        copy.truncate(most);
    }
    let mut words = switch.take_words();
    let own = switch.layout().own;
    words[own.ingress_port as usize] = ingress_port.into();
    for slot in own.of_queued() {
        words[slot as usize] = 0;
    }
    words[own.length as usize] = length::of_frame(&copy).into();
    switch.replicate(words, copy, arrival, &session.replicas, None);
}

/// Passes a packet to ingress again, with the request's header in place of port metadata.
pub fn resubmit(
    switch: &mut Switch,
    request: &Request,
    mut copy: Packet,
    arrival: &mut Arrival,
    ingress_port: u16,
) {
    let mut words = switch.take_words();
    Tna::arrive(
        switch.layout(),
        &mut words,
        arrival.now,
        ingress_port,
        &copy,
    );
    let header = request.header();
    let mut data = [0; 32];
    data[..header.len()].copy_from_slice(header);
    prefix::prepend(&mut copy, &data[..switch.layout().port_metadata]);
    words[switch.layout().own.resubmitted as usize] = 1;
    switch.restart_later(words, copy, arrival);
}

/// Passes a packet that leaves through a recirculation port to ingress.
pub fn recirculate(switch: &mut Switch, packet: Packet, arrival: &mut Arrival, port: u16) {
    generator::recirculated(switch, arrival.now, port, &packet);
    let mut words = switch.take_words();
    Tna::arrive(switch.layout(), &mut words, arrival.now, port, &packet);
    switch.restart_later(words, packet, arrival);
}

/// Whether a packet that has been recirculated this often may be mirrored again from egress.
pub fn may_mirror(switch: &mut Switch, packet: &Packet, arrival: &Arrival, port: u16) -> bool {
    let may = arrival.lineage.passes() < switch.config().max_passes;
    if !may {
        switch.note_drop(DropCause::TooManyPasses, port, arrival.now, packet.tag);
    }
    may
}
