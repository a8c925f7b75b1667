//! The implementation of TNA for the engine and the switch.

use crate::blocks::{self, Layout, Pipe};
use crate::externs::{self, Call};
use crate::requests::Request;
use crate::{deflection, egress, generator, ghost, ingress, length, objects, ports};
use p4_ir::{ExternCall, ExternObject, Program};
use p4_vm::{Architecture, CallSite, Compiler, ControlError, DropCause, Object, Packet, Target};
use switch::{
    AppId, Arrival, Dequeued, Forwarding, Frame, Generated, GeneratorApp, Replica, Switch,
};
use units::Instant;

/// The Tofino Native Architecture, of Tofino 1 or 2. Its value holds the requests of a deparser.
#[derive(Debug, Default)]
pub struct Tna {
    /// A request for a mirrored packet.
    pub mirror: Option<Request>,
    /// A request to resubmit the packet.
    pub resubmit: Option<Request>,
    /// A request for packets of the packet generator, with this context.
    pub generate: Option<Request>,
}

impl Architecture for Tna {
    const NAME: &'static str = "TNA";
    const DIRECT_ON_HIT: bool = false;
    type Layout = Layout;
    type Call = Call;

    fn bind(compiler: &mut Compiler<'_, Self>) {
        blocks::bind(compiler);
    }

    fn entries(layout: &mut Layout) -> impl Iterator<Item = &mut Target> {
        layout.pipes.iter_mut().flat_map(Pipe::entries_mut)
    }

    fn lower(compiler: &mut Compiler<'_, Self>, call: &ExternCall) -> Option<()> {
        externs::lower(compiler, call)
    }

    fn object(program: &Program, object: &ExternObject) -> Result<Object, String> {
        objects::new(program, object)
    }

    fn call(&mut self, call: &Call, at: CallSite<'_>) {
        externs::call(self, call, at);
    }
}

impl Forwarding for Tna {
    fn recirculates(layout: &Layout, port: u16) -> bool {
        ports::recirculates(port, layout.generation)
    }

    #[inline]
    fn arrive(layout: &Layout, words: &mut [u64], _now: Instant, port: u16, packet: &Packet) {
        words[layout.own.ingress_port as usize] = port.into();
        words[layout.own.length as usize] = length::of_frame(packet).into();
        words[layout.own.resubmitted as usize] = 0;
    }

    #[inline]
    fn ingress_port(layout: &Layout, words: &[u64]) -> u16 {
        words[layout.own.ingress_port as usize] as u16
    }

    #[inline]
    fn ingress(
        switch: &mut Switch<Self>,
        words: Frame,
        packet: &mut Packet,
        arrival: &mut Arrival,
    ) {
        ingress::run(switch, words, packet, arrival);
    }

    #[inline]
    fn priority(layout: &Layout, words: &[u64]) -> u8 {
        words[layout.own.queue as usize] as u8
    }

    #[inline]
    fn cells(layout: &Layout, packet: &Packet) -> u32 {
        packet.length().div_ceil(layout.cell_octets)
    }

    #[inline]
    fn queued(_layout: &Layout, _words: &mut [u64], _now: Instant, _depth: u32) {}

    #[inline]
    fn refused(
        switch: &mut Switch<Self>,
        cause: DropCause,
        port: u16,
        arrival: &mut Arrival,
        words: Frame,
        packet: Packet,
    ) {
        deflection::refused(switch, cause, port, arrival, words, packet);
    }

    #[inline]
    fn depth_changed(switch: &mut Switch<Self>, now: Instant, port: u16, priority: u8) {
        ghost::run(switch, now, port, priority);
    }

    #[inline]
    fn copied(layout: &Layout, words: &mut [u64], replica: &Replica) {
        words[layout.own.replication as usize] = replica.rid.into();
    }

    fn check_app(layout: &Layout, id: AppId, app: &GeneratorApp) -> Result<(), ControlError> {
        generator::check(layout, id, app)
    }

    fn generated(switch: &Switch<Self>, generated: &Generated, packet: &mut Packet) -> u16 {
        generator::prepend(switch, generated, packet)
    }

    fn port_down(switch: &mut Switch<Self>, now: Instant, port: u16) {
        generator::port_down(switch, now, port);
    }

    #[inline]
    fn egress(
        switch: &mut Switch<Self>,
        next: &mut Dequeued,
        arrival: &mut Arrival,
    ) -> Option<Instant> {
        egress::run(switch, next, arrival)
    }
}
