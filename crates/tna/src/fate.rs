//! The decision of the traffic manager about a packet that leaves ingress.

use crate::blocks::{Layout, Own};
use crate::{Switch, ports};
use p4_vm::{DropCause, Packet};
use std::slice;
use switch::{Arrival, Frame, Replica};

/// The option of [`SwitchConfig::options`](switch::SwitchConfig::options) that sets the port of `copy_to_cpu`. By
/// default, there are no such copies.
pub const CPU_PORT: &str = "cpu_port";

/// The bit of `drop_ctl` that prevents sending to any port and resubmission.
pub const DROP: u64 = 1;
/// The bit that prevents copying to the CPU.
const NO_COPY_TO_CPU: u64 = 2;
/// The bit that prevents mirroring by egress.
pub const NO_MIRROR: u64 = 4;

/// Sends a packet to its port, to multicast groups, and to the CPU.
pub fn decide(
    switch: &mut Switch,
    mut words: Frame,
    packet: Packet,
    arrival: &mut Arrival,
    ingress_port: u16,
) {
    let meta = switch.layout().pipe(ingress_port).ingress;
    let drop = meta.drop.get(&words);
    let dropped = drop & DROP != 0;
    let port = ports::of_program(meta.port.get(&words)).filter(|_| !dropped);
    let groups = match dropped {
        true => [0, 0],
        false => [meta.group_a, meta.group_b].map(|group| group.get(&words) as u16),
    };
    let cpu = match meta.copy_to_cpu.get(&words) != 0 && drop & NO_COPY_TO_CPU == 0 {
        true => switch.config().options.get(CPU_PORT).copied(),
        false => None,
    };
    let cpu = cpu.map(|port| (port as u16, meta.cpu_class_of_service.get(&words)));
    to_egress(switch, &mut words, ingress_port);
    let mut copied = multicast(switch, &words, &packet, arrival, groups);
    if let Some((port, class)) = cpu {
        copied = true;
        let mut twin = copy(switch, &words);
        let own = switch.layout().own;
        twin[own.queue as usize] = 0;
        twin[own.class_of_service as usize] = class;
        let packet = switch.copy_packet(&packet);
        let replica = Replica { port, rid: 0 };
        switch.replicate(twin, packet, arrival, &[replica], None);
    }
    match port {
        Some(port) => {
            switch.enqueue(words, packet, arrival, port, None);
        }
        None if copied => {
            // The copies replace the packet.
            switch.leave(arrival);
            switch.give_words(words);
            switch.give_packet(packet);
        }
        None => {
            let cause = match groups {
                [0, 0] => DropCause::Ingress,
                _ => DropCause::NoMulticastGroup,
            };
            switch.drop_packet(cause, ingress_port, arrival, words, packet);
        }
    }
}

/// Copies storage for another packet.
fn copy(switch: &mut Switch, words: &[u64]) -> Frame {
    let mut twin = switch.take_words();
    twin.copy_from_slice(words);
    twin
}

/// Converts a packet's storage to that of a packet for egress: variables become zero, and the words of the traffic
/// manager are kept.
fn to_egress(switch: &Switch, words: &mut [u64], ingress_port: u16) {
    let Layout { own, .. } = *switch.layout();
    let meta = switch.layout().pipe(ingress_port).ingress;
    let of_packet = [
        (own.queue, meta.queue.get(words)),
        (own.bypass_egress, meta.bypass_egress.get(words)),
        (own.class_of_service, meta.class_of_service.get(words)),
        (own.deflect_on_drop, meta.deflect_on_drop.get(words)),
        (own.deflected, 0),
        (own.replication, 0),
        (own.first_replica, 0),
    ];
    for (slot, value) in of_packet {
        words[slot as usize] = value;
    }
    words[..switch.pipeline().variables()].fill(0);
}

/// Sends copies to the groups. Returns whether there is one.
fn multicast(
    switch: &mut Switch,
    words: &[u64],
    packet: &Packet,
    arrival: &mut Arrival,
    groups: [u16; 2],
) -> bool {
    let Own { first_replica, .. } = switch.layout().own;
    let mut copied = false;
    for group in groups {
        let Some(replicas) = switch.replication().group(group).cloned() else {
            continue;
        };
        let mut before: Option<&Replica> = None;
        for replica in &*replicas {
            let mut twin = copy(switch, words);
            let first = before.is_none_or(|before| before.rid != replica.rid);
            twin[first_replica as usize] = first.into();
            let packet = switch.copy_packet(packet);
            switch.replicate(twin, packet, arrival, slice::from_ref(replica), None);
            before = Some(replica);
            copied = true;
        }
    }
    copied
}
