//! Deflection on drop: a packet that its queue refuses goes to egress by another queue, if ingress has asked for that.

use crate::{Switch, fate, ports};
use p4_vm::{DropCause, Packet};
use switch::{Arrival, Frame};

/// The option of [`SwitchConfig::options`](switch::SwitchConfig::options) that names the port, within the pipe of the refused packet's port, whose
/// queue takes deflected packets. Unset: the first that recirculates.
pub const DEFLECTION_PORT: &str = "deflection_port";

/// The option that names the queue; unset: 0.
pub const DEFLECTION_QUEUE: &str = "deflection_queue";

/// Where deflected packets go.
#[derive(Clone, Copy, Debug)]
struct Queue {
    port: u16,
    queue: u64,
}

/// The queue that takes packets refused at a port.
fn queue(switch: &Switch, port: u16) -> Queue {
    let option = |name| switch.config().options.get(name).copied();
    let generation = switch.layout().generation;
    let in_pipe = option(DEFLECTION_PORT).unwrap_or(generation.recirculation_port());
    Queue {
        port: ports::of_pipe(ports::pipe(port), in_pipe),
        queue: option(DEFLECTION_QUEUE).unwrap_or(0),
    }
}

/// Deflects a packet that its queue refused, or drops it. It counts as dropped there in any case, and never again.
#[cold]
pub fn refused(
    switch: &mut Switch,
    cause: DropCause,
    port: u16,
    arrival: &mut Arrival,
    mut words: Frame,
    packet: Packet,
) {
    let own = switch.layout().own;
    let wanted = words[own.deflect_on_drop as usize] != 0;
    let full = matches!(cause, DropCause::TmFull | DropCause::BufferFull);
    if !(wanted && full) {
        return switch.drop_packet(cause, port, arrival, words, packet);
    }
    let to = queue(switch, port);
    switch.note_drop(cause, port, arrival.now, packet.tag);
    words[own.deflect_on_drop as usize] = 0;
    words[own.deflected as usize] = 1;
    words[own.queue as usize] = to.queue;
    fate::open(switch, to.port);
    switch.enqueue(words, packet, arrival, to.port, None);
}
