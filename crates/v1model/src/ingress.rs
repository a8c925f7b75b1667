//! From a port to a queue: parser, checksum verification, ingress, and the decision of ingress.

use crate::Switch;
use crate::blocks::ARRIVAL;
use crate::copies::{fresh, instance, keep, keep_headers_only, session};
use crate::externs::{CloneRequest, Kept};
use p4_vm::{DropCause, Job, Packet};
use std::mem::take;
use switch::{Arrival, Frame};
use units::Instant;

/// Runs parser, checksum verification and ingress, and carries out the decision of ingress.
#[inline]
pub fn run(switch: &mut Switch, mut words: Frame, packet: &mut Packet, arrival: &mut Arrival) {
    begin(switch, packet, arrival.now);
    switch.run_all(&mut words, ARRIVAL);
    std::mem::swap(&mut switch.job.octets, &mut packet.octets);

    let meta = switch.layout().metadata;
    let port = meta.ingress_port.get(&words) as u16;
    if let Some(cause) = switch.job.abort {
        return switch.drop_packet(cause, port, arrival, words, take(packet));
    }
    if let Some(request) = switch.architecture.clone.take() {
        clone_ingress(switch, &words, packet, arrival, request);
    }
    if let Some(kept) = switch.architecture.resubmit.take() {
        return resubmit(switch, words, take(packet), arrival, kept);
    }
    let group = meta.mcast_grp.get(&words) as u16;
    if group != 0 {
        let Some(replicas) = switch.replication().group(group).cloned() else {
            let cause = DropCause::NoMulticastGroup;
            return switch.drop_packet(cause, port, arrival, words, take(packet));
        };
        meta.instance_type.set(&mut words, instance::REPLICATED);
        let truncate = switch.architecture.truncate;
        switch.replicate(words, take(packet), arrival, &replicas, truncate);
        // The replicas replace the packet.
        return switch.leave(arrival);
    }
    let egress = meta.egress_spec.get(&words);
    if egress == words[switch.layout().drop_port as usize] {
        return switch.drop_packet(DropCause::Ingress, port, arrival, words, take(packet));
    }
    meta.instance_type.set(&mut words, instance::NORMAL);
    let truncate = switch.architecture.truncate;
    switch.enqueue(words, take(packet), arrival, egress as u16, truncate);
}

/// Makes `packet` the current packet. The job holds its octets until they are swapped back.
#[inline]
fn begin(switch: &mut Switch, packet: &mut Packet, now: Instant) {
    let job = Job {
        length: packet.length(),
        now,
        ..Job::default()
    };
    switch.begin(packet, job);
}

/// Runs the parser and verifies checksums.
fn parse(switch: &mut Switch, words: &mut [u64], packet: &mut Packet, now: Instant) {
    begin(switch, packet, now);
    let blocks = switch.layout().blocks;
    switch.run(words, blocks.parser);
    let meta = switch.layout().metadata;
    meta.parser_error.set(words, switch.job.error);
    switch.run(words, blocks.verify);
    meta.checksum_error
        .set(words, switch.job.checksum_error as u64);
}

/// Makes copies of the packet as it arrived, parses them again, and enqueues them for egress.
fn clone_ingress(
    switch: &mut Switch,
    words: &[u64],
    packet: &Packet,
    arrival: &mut Arrival,
    request: CloneRequest,
) {
    let Some(session) = session(switch, request.session) else {
        return;
    };
    let mut copy = fresh(switch, words, instance::INGRESS_CLONE, packet.length());
    let mut twin = switch.copy_packet(packet);
    let original = (take(&mut switch.job), take(&mut switch.architecture));
    parse(switch, &mut copy, &mut twin, arrival.now);
    std::mem::swap(&mut switch.job.octets, &mut twin.octets);
    // Only the headers of the parser's result are kept.
    keep_headers_only(
        switch,
        &mut copy,
        words,
        instance::INGRESS_CLONE,
        packet.length(),
    );
    keep(switch, words, &mut copy, request.kept);
    switch.replicate(copy, twin, arrival, &session.replicas, session.truncate);
    (switch.job, switch.architecture) = original;
}

/// Sends the packet, as it arrived, through ingress again.
fn resubmit(switch: &mut Switch, words: Frame, packet: Packet, arrival: &mut Arrival, kept: Kept) {
    let meta = switch.layout().metadata;
    let mut fresh = fresh(switch, &words, instance::RESUBMITTED, packet.length());
    let arrived = meta.ingress_global_timestamp.get(&words);
    meta.ingress_global_timestamp.set(&mut fresh, arrived);
    keep(switch, &words, &mut fresh, kept);
    switch.give_words(words);
    switch.restart_later(fresh, packet, arrival);
}
