//! How packets pass through the blocks of an architecture.

use crate::{
    AppId, Arrival, Dequeued, Frame, Generated, GeneratorApp, Replica, Switch, SwitchConfig,
};
use p4_vm::{Architecture, ControlError, DropCause, Packet};
use units::Instant;

/// What an architecture does with packets between ports and queues. It owns the intrinsic metadata, interprets a
/// parser's rejection, and decides where a packet goes.
///
/// `words` is the storage of a packet. [`Layout`](Architecture::Layout) gives the location of the metadata in it.
pub trait Forwarding: Architecture {
    /// Whether packets for a port that the switch does not have go through egress, which may recirculate or clone them,
    /// before they are dropped as [`UnknownPort`](DropCause::UnknownPort).
    const EGRESS_WITHOUT_PORT: bool = false;

    /// Whether packets for a port return to ingress. Such a port has no line outside of the switch, and always exists.
    fn recirculates(_layout: &Self::Layout, _port: u16) -> bool {
        false
    }

    /// Writes settings of the switch into the words that [`Compiler::setting`](p4_vm::Compiler::setting) gave.
    fn configure(_layout: &Self::Layout, _config: &SwitchConfig, _words: &mut [u64]) {}

    /// Writes the metadata of a packet that arrives at a port.
    fn arrive(layout: &Self::Layout, words: &mut [u64], now: Instant, port: u16, packet: &Packet);

    /// The port at which a packet arrived.
    fn ingress_port(layout: &Self::Layout, words: &[u64]) -> u16;

    /// Runs the blocks up to the traffic manager, then passes the packet on with [`Switch::enqueue`],
    /// [`Switch::replicate`], [`Switch::restart_later`] or [`Switch::drop_packet`].
    fn ingress(switch: &mut Switch<Self>, words: Frame, packet: &mut Packet, arrival: &mut Arrival);

    /// The queue that a packet joins at its port.
    fn priority(layout: &Self::Layout, words: &[u64]) -> u8;

    /// Cells of the buffer that a packet occupies, for architectures that report queue depths in cells.
    #[inline]
    fn cells(_layout: &Self::Layout, _packet: &Packet) -> u32 {
        0
    }

    /// Writes the metadata of a packet that is enqueued behind `depth` packets.
    fn queued(layout: &Self::Layout, words: &mut [u64], now: Instant, depth: u32);

    /// Handles a packet that did not fit into its queue.
    #[inline]
    fn refused(
        switch: &mut Switch<Self>,
        cause: DropCause,
        port: u16,
        arrival: &mut Arrival,
        words: Frame,
        packet: Packet,
    ) {
        switch.drop_packet(cause, port, arrival, words, packet);
    }

    /// Called after a packet has joined or left a queue.
    #[inline]
    fn depth_changed(_switch: &mut Switch<Self>, _now: Instant, _port: u16, _priority: u8) {}

    /// Writes the metadata of a copy.
    fn copied(layout: &Self::Layout, words: &mut [u64], replica: &Replica);

    /// Rejects an application of the packet generator that the architecture does not support.
    fn check_app(
        _layout: &Self::Layout,
        _id: AppId,
        _app: &GeneratorApp,
    ) -> Result<(), ControlError> {
        Err(ControlError::Invalid {
            at: "packet generator".into(),
            expected: "a program for tna.p4 or t2na.p4".into(),
            found: format!("one for {}", Self::NAME),
        })
    }

    /// Prepends the architecture's header to a packet of the packet generator. Returns the port through which the
    /// packet enters ingress. Called only for applications that [`check_app`](Self::check_app) has accepted.
    fn generated(_switch: &Switch<Self>, _generated: &Generated, _packet: &mut Packet) -> u16 {
        0
    }

    /// Called when a port has gone down.
    fn port_down(_switch: &mut Switch<Self>, _now: Instant, _port: u16) {}

    /// Runs the blocks between the traffic manager and the line. Returns the end of the packet's serialisation
    /// ([`Switch::send`]), or `None` if the packet is not sent ([`Switch::drop_in_egress`], [`Switch::restart_later`]).
    /// The frame is not moved.
    fn egress(
        switch: &mut Switch<Self>,
        next: &mut Dequeued,
        arrival: &mut Arrival,
    ) -> Option<Instant>;
}
