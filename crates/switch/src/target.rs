//! The interface of a switch for programs that drive it, independent of the architecture.

use crate::{
    AppId, CloneSession, Forwarding, GeneratorApp, PortConfig, PortStats, Replica, Switch,
    SwitchConfig, Transmit,
};
use p4_ir::Program;
use p4_vm::{
    CompileError, ControlError, DraftScope, DropCounts, Machine, Octets, Packet, Pipeline, Remains,
};
use std::fmt::Debug;
use std::ops::DerefMut;
use std::sync::Arc;
use units::Instant;

/// A switch that runs a P4 program. It dereferences to its [`Machine`], which a control plane reads and writes.
///
/// It has no clock and no threads: `now` is an argument and must never decrease.
/// ```text
/// handle_packet(now, port, packet)      ingress runs at once
/// poll_transmit(now) → Some(transmit)   egress runs when a line is free; call until None
/// poll_timeout()     → when to call poll_transmit next
/// ```
/// The behaviour of a switch depends on when packets arrive, not on how often it is polled: a packet whose
/// serialisation is due leaves its queue before a packet that arrives at the same time or later.
pub trait Target: DerefMut<Target = Machine> + Debug + Send {
    /// Handles a packet that arrived at `port` (for a store-and-forward switch, `now` is the arrival of its last
    /// octet). Packets due before `now` have left their queues by then. A packet that has waited and leaves exactly at
    /// `now` goes first if [`poll_transmit`](Self::poll_transmit) is called first.
    fn handle_packet(&mut self, now: Instant, port: u16, packet: Packet);

    /// Returns the next packet whose serialisation starts at or before `now`, ordered by that time, then by port. If
    /// the caller is late, `start` is still the time at which the line was free.
    fn poll_transmit(&mut self, now: Instant) -> Option<Transmit>;

    /// The port of the next packet of [`poll_transmit`](Self::poll_transmit), whenever that packet is due. Packets that
    /// the packet generator has produced by `now` go through ingress first, because ingress decides their port.
    fn next_port(&mut self, now: Instant) -> Option<u16>;

    /// Returns a port at which packets are waiting and at which, since the last call, a packet began to wait or a
    /// packet left with others behind it. Returns `None` unless [`report_waiting`](crate::SwitchConfig::report_waiting)
    /// is set.
    fn poll_waiting(&mut self) -> Option<u16>;

    /// Sets when the line of a port will have sent its current packet. For callers that compute this more precisely
    /// than in whole nanoseconds per packet.
    fn set_line_free_at(&mut self, port: u16, at: Instant);

    /// When [`poll_transmit`](Self::poll_transmit) must be called next. `None` if no packet is waiting.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Configures an application of the packet generator, or removes it with `None`. Its packets reach ingress in order
    /// of time, interleaved with packets from ports.
    fn set_generator_app(
        &mut self,
        now: Instant,
        id: AppId,
        app: Option<GeneratorApp>,
    ) -> Result<(), ControlError>;

    /// Reports that a port has gone down, which triggers applications of the packet generator.
    fn port_down(&mut self, now: Instant, port: u16);

    /// Returns the buffer of a packet to the pool, so that the next packet needs no allocation.
    fn recycle(&mut self, packet: Packet);

    /// Returns an empty buffer from the pool, with room in front for longer headers, for a packet to be passed to the
    /// switch.
    fn buffer(&mut self) -> Octets;

    /// Sets the rate and queues of a port from now on. Packets that already wait remain queued.
    fn set_port(&mut self, port: u16, config: PortConfig);

    /// The counters of a port. They are zero for a port that was never used.
    fn port_stats(&self, port: u16) -> PortStats;

    /// The drop counters of each port.
    fn port_drops(&self) -> Vec<(u16, DropCounts)>;

    /// Packets that currently wait in one of the queues of a port.
    fn queue_depth(&self, port: u16, priority: u8) -> u32;

    /// Counts transmitted packets, and their `link_octets`, that the interface of the port failed to send.
    fn send_failed(&mut self, port: u16, packets: u64, octets: u64);

    /// Octets of memory that queued packets use, including their variables. At most
    /// [`max_buffered_octets`](crate::SwitchConfig::max_buffered_octets).
    fn buffered_octets(&self) -> u64;

    /// Drops of the whole switch, by cause.
    fn drops(&self) -> DropCounts;

    /// Begins a batch of changes that becomes visible to packets as a whole when it is published. A batch that was
    /// begun before is discarded. The returned value, here and below, holds data that is no longer needed.
    ///
    /// ```text
    /// begin_batch(scope)
    /// copy_to_batch(most)   until it says that all has been copied
    /// edit_draft(true), changes, edit_draft(false)   as often as need be
    /// publish_batch(), settle_batch(most) until it says that all has been settled; or discard_batch()
    /// ```
    /// Packets may be handled between any two of these calls. Whatever the scope names is changed only within
    /// `edit_draft`.
    fn begin_batch(&mut self, scope: &DraftScope) -> Remains;

    /// Copies at most `most` entries, members, groups or sessions that the batch may change. Returns whether the copy
    /// is complete.
    fn copy_to_batch(&mut self, most: usize) -> bool;

    /// Makes the batch visible to packets. Takes constant time, however many entries and cells the batch changes: a
    /// write to a cell of a counter, meter or register is deferred until a packet or a control plane reaches the cell.
    fn publish_batch(&mut self) -> Remains;

    /// Carries out at most `most` deferred writes. Returns whether none is left. Until then, `register_cells` and
    /// `counter_cells` do not include them. The next batch carries them out when it begins.
    fn settle_batch(&mut self, most: usize) -> bool;

    /// Discards the batch, if there is one.
    fn discard_batch(&mut self) -> Remains;

    /// Sets a multicast group (1 to 65535). An empty list removes the group.
    fn set_multicast_group(
        &mut self,
        group: u16,
        replicas: Vec<Replica>,
    ) -> Result<(), ControlError>;

    /// The replicas of a multicast group. Empty if there is no such group.
    fn multicast_group(&self, group: u16) -> &[Replica];

    /// All multicast groups.
    fn multicast_groups(&self) -> Vec<(u16, &[Replica])>;

    /// Sets a clone session (0 to 32767). `None` removes the session.
    fn set_clone_session(
        &mut self,
        session: u16,
        to: Option<CloneSession>,
    ) -> Result<(), ControlError>;

    /// A clone session.
    fn clone_session(&self, session: u16) -> Option<&CloneSession>;

    /// All clone sessions.
    fn clone_sessions(&self) -> Vec<(u16, &CloneSession)>;
}

/// A translated program of any architecture.
pub trait Translated: Debug + Send + Sync {
    /// The program.
    fn program(&self) -> &Program;

    /// Creates a switch that runs the program.
    fn switch(self: Arc<Self>, config: SwitchConfig) -> Box<dyn Target>;
}

impl<A: Forwarding> Translated for Pipeline<A> {
    fn program(&self) -> &Program {
        Pipeline::program(self)
    }

    fn switch(self: Arc<Self>, config: SwitchConfig) -> Box<dyn Target> {
        Box::new(Switch::with_pipeline(self, config))
    }
}

/// Translates a program, or reports which of its features the architecture does not support.
pub type Compile = fn(&Program) -> Result<Arc<dyn Translated>, Vec<CompileError>>;

/// An architecture, as it is registered for look-up by programs.
#[derive(Clone, Copy, Debug)]
pub struct Registration {
    /// The type of the packages that it runs, such as `V1Switch`.
    pub package: &'static str,
    /// The file that declares it, such as `v1model.p4`.
    pub include: &'static str,
    /// Whether a program is written for this architecture.
    pub runs: fn(&Program) -> bool,
    /// Translates a program for this architecture.
    pub compile: Compile,
}
