//! Contains panics: a panic in the engine drops the packet being processed and has no other effect.
//!
//! Ingress and egress of a packet each run inside one `catch_unwind`. Unwinding frees the storage of that packet.
//! Changes that the packet has already made to tables, registers and queues remain.

use crate::Forwarding;
use crate::switch::{Arrival, Switch};
use p4_vm::{DropCause, Event, Packet, Panic};
use std::any::Any;

/// The payload of a panic.
type Payload = Box<dyn Any + Send>;

/// The packet being processed.
#[derive(Clone, Copy)]
pub(crate) struct AtHand {
    pub block: &'static str,
    /// The port for which the drop is counted.
    pub port: u16,
    /// The port through which the packet came in.
    pub ingress_port: u16,
    pub tag: u64,
}

impl<A: Forwarding> Switch<A> {
    /// Drops the packet whose processing panicked.
    #[cold]
    #[inline(never)]
    pub(crate) fn panicked(
        &mut self,
        payload: &Payload,
        at_hand: AtHand,
        packet: &mut Packet,
        arrival: &mut Arrival,
    ) {
        // While a block runs, the job holds the octets of the packet.
        let job = std::mem::take(&mut self.job);
        let packet = std::mem::take(packet);
        let (octets, elided) = match packet.octets.is_empty() {
            true => (job.octets, job.elided),
            false => (packet.octets, packet.elided),
        };
        let AtHand {
            block,
            port,
            ingress_port,
            tag,
        } = at_hand;
        self.families.leave(&mut arrival.lineage);
        self.note_drop(DropCause::Panic, port, arrival.now, tag);
        self.machine.report(Event::Panic(Box::new(Panic {
            at: arrival.now,
            message: message(payload),
            block,
            ingress_port,
            passes: arrival.lineage.passes(),
            octets: octets.into(),
            elided,
            tag,
        })));
    }
}

fn message(payload: &Payload) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without a message").to_owned()
}
