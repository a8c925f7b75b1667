//! Deflection on drop: a packet that its queue refuses goes to egress through another queue, if ingress has requested
//! that.

use crate::{Switch, ports};
use p4_vm::{DropCause, Packet};
use switch::{Arrival, Frame};

/// The option of [`SwitchConfig::options`](switch::SwitchConfig::options) that sets the port whose queue receives
/// deflected packets, within the pipe of the refused packet's port. The default is the first recirculation port.
pub const DEFLECTION_PORT: &str = "deflection_port";

/// The option that sets the queue. The default is 0.
pub const DEFLECTION_QUEUE: &str = "deflection_queue";

/// The destination of deflected packets.
#[derive(Clone, Copy, Debug)]
struct Queue {
    port: u16,
    queue: u64,
}

/// The queue that receives packets refused at a port.
fn queue(switch: &Switch, port: u16) -> Queue {
    let option = |name| switch.config().options.get(name).copied();
    let generation = switch.layout().generation;
    let in_pipe = option(DEFLECTION_PORT).unwrap_or(generation.recirculation_port());
    Queue {
        port: ports::of_pipe(ports::pipe(port), in_pipe),
        queue: option(DEFLECTION_QUEUE).unwrap_or(0),
    }
}

/// Deflects a packet that its queue refused, or drops it. In both cases it is counted as dropped there, exactly once.
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
    switch.enqueue(words, packet, arrival, to.port, None);
}
