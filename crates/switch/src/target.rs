//! What programs that drive a switch know of it, whatever its architecture.

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

/// A switch that runs a P4 program. It dereferences to its [`Machine`], on which a control plane works.
///
/// It has no clock and no threads: `now` is an argument and must not go back.
/// ```text
/// handle_packet(now, port, packet)      ingress runs at once
/// poll_transmit(now) → Some(transmit)   egress runs when a line is free; call until None
/// poll_timeout()     → when to call poll_transmit next
/// ```
/// What a switch does depends on when packets come, not on how often it is polled: a packet whose
/// serialisation is due leaves its queue before one that comes at the same time or later.
pub trait Target: DerefMut<Target = Machine> + Debug + Send {
    /// A packet came in through `port` (its last octet, for a store-and-forward switch). What was to
    /// leave before `now` has left; what has waited and leaves at `now` as well goes first if
    /// [`poll_transmit`](Self::poll_transmit) is called first.
    fn handle_packet(&mut self, now: Instant, port: u16, packet: Packet);

    /// The next packet whose serialisation starts at or before `now`, in order of that time, then of
    /// port. If the caller is late, `start` is still when the line was free.
    fn poll_transmit(&mut self, now: Instant) -> Option<Transmit>;

    /// The port of the packet that [`poll_transmit`](Self::poll_transmit) is about next, whenever that is. Packets that
    /// the packet generator has made by `now` go through ingress first, as only that decides where they go.
    fn next_port(&mut self, now: Instant) -> Option<u16>;

    /// A port where a packet has begun to wait, or others wait behind one that has left, since this was asked last and still
    /// do; none unless [`report_waiting`](crate::SwitchConfig::report_waiting) is set.
    fn poll_waiting(&mut self) -> Option<u16>;

    /// Says when a port's line will have sent what it took last, where the caller computes that more finely
    /// than in whole nanoseconds per packet.
    fn set_line_free_at(&mut self, port: u16, at: Instant);

    /// When [`poll_transmit`](Self::poll_transmit) has something to do next; `None` if nothing waits.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Sets an application of the packet generator up, or with `None` removes it. Its packets come to ingress in order
    /// of time with those from ports.
    fn set_generator_app(
        &mut self,
        now: Instant,
        id: AppId,
        app: Option<GeneratorApp>,
    ) -> Result<(), ControlError>;

    /// Says that a port has gone down, for applications of the packet generator that wait for this.
    fn port_down(&mut self, now: Instant, port: u16);

    /// Gives back a packet's buffer, so that the next packet needs no allocation.
    fn recycle(&mut self, packet: Packet);

    /// An empty buffer from the pool, for a packet to be handed in, with room for longer headers.
    fn buffer(&mut self) -> Octets;

    /// Sets a port's rate and queues from now on. Packets that wait already stay.
    fn set_port(&mut self, port: u16, config: PortConfig);

    /// A port's counts; zero for one that was never used.
    fn port_stats(&self, port: u16) -> PortStats;

    /// Each port's drops.
    fn port_drops(&self) -> Vec<(u16, DropCounts)>;

    /// Packets waiting now in one of a port's queues.
    fn queue_depth(&self, port: u16, priority: u8) -> u32;

    /// Counts packets of a port, and their `link_octets`, that were given out and that its interface did not take.
    fn send_failed(&mut self, port: u16, packets: u64, octets: u64);

    /// Octets of memory that packets take which wait in queues, their variables included; at most
    /// [`max_buffered_octets`](crate::SwitchConfig::max_buffered_octets).
    fn buffered_octets(&self) -> u64;

    /// Drops of the whole switch, by cause.
    fn drops(&self) -> DropCounts;

    /// Begins a batch of changes that packets see as a whole, when it is published. One that was begun before is
    /// discarded. What is returned, here and below, is no longer needed.
    ///
    /// ```text
    /// begin_batch(scope)
    /// copy_to_batch(most)   until it says that all has been copied
    /// edit_draft(true), changes, edit_draft(false)   as often as need be
    /// publish_batch(), settle_batch(most) until it says that all has been settled; or discard_batch()
    /// ```
    /// Between two of these, packets may come. No change is made to what the scope names but within `edit_draft`.
    fn begin_batch(&mut self, scope: &DraftScope) -> Remains;

    /// Copies at most `most` entries, members, groups or sessions of what the batch changes; whether all have been copied.
    fn copy_to_batch(&mut self, most: usize) -> bool;

    /// Has packets see the batch from now on. Takes the same time however many entries there are and cells it writes to:
    /// writes to cells of counters, meters and registers wait, each until a packet or a control plane reaches its cell.
    fn publish_batch(&mut self) -> Remains;

    /// Carries out at most `most` of the writes that wait; whether none is left. Until then, `register_cells` and
    /// `counter_cells` lack them, and the next batch carries them out as it begins.
    fn settle_batch(&mut self, most: usize) -> bool;

    /// Gives the batch up, if there is one.
    fn discard_batch(&mut self) -> Remains;

    /// Sets a multicast group (1 to 65535); an empty list removes it.
    fn set_multicast_group(
        &mut self,
        group: u16,
        replicas: Vec<Replica>,
    ) -> Result<(), ControlError>;

    /// A multicast group's replicas; empty if there is none.
    fn multicast_group(&self, group: u16) -> &[Replica];

    /// All multicast groups.
    fn multicast_groups(&self) -> Vec<(u16, &[Replica])>;

    /// Sets a clone session (0 to 32767); `None` removes it.
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

/// A translated program, whatever its architecture.
pub trait Translated: Debug + Send + Sync {
    /// The program.
    fn program(&self) -> &Program;

    /// A switch that runs it.
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

/// Translates a program, or says what in it the architecture does not support.
pub type Compile = fn(&Program) -> Result<Arc<dyn Translated>, Vec<CompileError>>;

/// An architecture as programs find it.
#[derive(Clone, Copy, Debug)]
pub struct Registration {
    /// The type of the packages that it runs: `V1Switch`.
    pub package: &'static str,
    /// The file that declares it: `v1model.p4`.
    pub include: &'static str,
    /// Whether a program is for it.
    pub runs: fn(&Program) -> bool,
    /// Translates a program for it.
    pub compile: Compile,
}
