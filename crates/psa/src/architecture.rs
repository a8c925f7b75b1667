//! The implementation of PSA for the engine and the switch.

use crate::blocks::{self, Layout};
use crate::externs::{self, Call};
use crate::{egress, ingress, objects, paths, ports};
use p4_ir::{ExternCall, ExternObject, Program};
use p4_vm::{Architecture, CallSite, Compiler, Object, Packet, Target};
use switch::{Arrival, Dequeued, Forwarding, Frame, Replica, Switch};
use units::Instant;

/// The Portable Switch Architecture. All requests of a packet's block are in its metadata.
#[derive(Debug, Default)]
pub struct Psa;

impl Architecture for Psa {
    const NAME: &'static str = "PSA";
    type Layout = Layout;
    type Call = Call;

    fn bind(compiler: &mut Compiler<'_, Self>) {
        blocks::bind(compiler);
    }

    fn entries(layout: &mut Layout) -> impl Iterator<Item = &mut Target> {
        layout.blocks.all_mut().into_iter()
    }

    fn lower(compiler: &mut Compiler<'_, Self>, call: &ExternCall) -> Option<()> {
        externs::lower(compiler, call)
    }

    fn object(program: &Program, object: &ExternObject) -> Result<Object, String> {
        objects::new(program, object)
    }

    fn call(&mut self, call: &Call, at: CallSite<'_>) {
        externs::call(call, at.words);
    }
}

impl Forwarding for Psa {
    fn recirculates(_layout: &Layout, port: u16) -> bool {
        ports::of_psa(port) == ports::RECIRCULATE
    }

    #[inline]
    fn arrive(layout: &Layout, words: &mut [u64], now: Instant, port: u16, _packet: &Packet) {
        paths::arrive(layout, words, now, ports::of_psa(port), paths::NORMAL);
    }

    #[inline]
    fn ingress_port(layout: &Layout, words: &[u64]) -> u16 {
        ports::of_switch(layout.ingress.parser_port.get(words)).unwrap_or_default()
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
        layout.egress.class_of_service.get(words) as u8
    }

    #[inline]
    fn queued(_layout: &Layout, _words: &mut [u64], _now: Instant, _depth: u32) {}

    #[inline]
    fn copied(layout: &Layout, words: &mut [u64], replica: &Replica) {
        layout.egress.instance.set(words, replica.rid.into());
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
