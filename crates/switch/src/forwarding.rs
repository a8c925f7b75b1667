//! How packets go through the blocks of an architecture.

use crate::{
    AppId, Arrival, Dequeued, Frame, Generated, GeneratorApp, Replica, Switch, SwitchConfig,
};
use p4_vm::{Architecture, ControlError, DropCause, Packet};
use units::Instant;

/// What an architecture does with packets between ports and queues. It owns the intrinsic metadata, decides what a
/// parser's rejection means, and where a packet goes.
///
/// `words` is a packet's storage; [`Layout`](Architecture::Layout) says where in it metadata lies.
pub trait Forwarding: Architecture {
    /// Whether packets for a port that the switch does not have go through egress, which may recirculate or clone them,
    /// before they are dropped as [`UnknownPort`](DropCause::UnknownPort).
    const EGRESS_WITHOUT_PORT: bool = false;

    /// Writes settings of the switch into the words that [`Compiler::setting`](p4_vm::Compiler::setting) gave.
    fn configure(_layout: &Self::Layout, _config: &SwitchConfig, _words: &mut [u64]) {}

    /// Writes the metadata of a packet that came in through a port.
    fn arrive(layout: &Self::Layout, words: &mut [u64], now: Instant, port: u16, packet: &Packet);

    /// The port that a packet came in through.
    fn ingress_port(layout: &Self::Layout, words: &[u64]) -> u16;

    /// Runs the blocks up to the traffic manager, then takes the packet on: [`Switch::enqueue`],
    /// [`Switch::replicate`], [`Switch::restart_later`] or [`Switch::drop_packet`].
    fn ingress(switch: &mut Switch<Self>, words: Frame, packet: &mut Packet, arrival: &mut Arrival);

    /// The queue that a packet joins at its port.
    fn priority(layout: &Self::Layout, words: &[u64]) -> u8;

    /// Cells of the buffer that a packet takes, for depths that the architecture gives in cells.
    #[inline]
    fn cells(_layout: &Self::Layout, _packet: &Packet) -> u32 {
        0
    }

    /// Writes the metadata of a packet that joins a queue in which `depth` packets wait.
    fn queued(layout: &Self::Layout, words: &mut [u64], now: Instant, depth: u32);

    /// Disposes of a packet that did not fit into a queue.
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

    /// A packet has joined or left a queue.
    #[inline]
    fn depth_changed(_switch: &mut Switch<Self>, _now: Instant, _port: u16, _priority: u8) {}

    /// Writes the metadata of a copy.
    fn copied(layout: &Self::Layout, words: &mut [u64], replica: &Replica);

    /// Refuses an application of the packet generator that the architecture does not have.
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

    /// Puts a header in front of a packet that the packet generator sends: the port that it comes to ingress through.
    /// There is none unless [`check_app`](Self::check_app) has accepted its application.
    fn generated(_switch: &Switch<Self>, _generated: &Generated, _packet: &mut Packet) -> u16 {
        0
    }

    /// A port has gone down.
    fn port_down(_switch: &mut Switch<Self>, _now: Instant, _port: u16) {}

    /// Runs the blocks between the traffic manager and the line: when the packet's serialisation ends
    /// ([`Switch::send`]), or `None` if it is not sent ([`Switch::drop_in_egress`], [`Switch::restart_later`]). The frame
    /// stays where it is.
    fn egress(
        switch: &mut Switch<Self>,
        next: &mut Dequeued,
        arrival: &mut Arrival,
    ) -> Option<Instant>;
}
