//! A panic in the engine costs the packet that met it, and nothing else.
//!
//! Each of a packet's two halves, ingress and egress, runs behind one `catch_unwind`. Storage of the packet
//! that was at hand is freed as the stack unwinds; what it had done to tables, registers and queues stays.

use crate::Forwarding;
use crate::switch::{Arrival, Switch};
use p4_vm::{DropCause, Event, Packet, Panic};
use std::any::Any;

/// What a panic was called with.
type Payload = Box<dyn Any + Send>;

/// A packet that is being worked on.
#[derive(Clone, Copy)]
pub(crate) struct AtHand {
    pub block: &'static str,
    /// The port at which it is counted if it is dropped.
    pub port: u16,
    /// The port that it came in through.
    pub ingress_port: u16,
    pub tag: u64,
}

impl<A: Forwarding> Switch<A> {
    /// Drops the packet that met a panic.
    #[cold]
    #[inline(never)]
    pub(crate) fn panicked(
        &mut self,
        payload: &Payload,
        at_hand: AtHand,
        packet: &mut Packet,
        arrival: &mut Arrival,
    ) {
        // Its octets are the job's while a block runs.
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
