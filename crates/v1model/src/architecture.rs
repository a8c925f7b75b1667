//! The implementation of v1model for the engine and the switch.

use crate::blocks::{self, Layout};
use crate::externs::{self, Call, CloneRequest, Kept};
use crate::{calculations, egress, ingress, objects};
use p4_ir::{ExternCall, ExternObject, Program};
use p4_vm::{Architecture, Calculation, CallSite, Compiler, Object, Packet, Sequence, Target};
use switch::{Arrival, Dequeued, Forwarding, Frame, Replica, Switch, SwitchConfig};
use units::Instant;

/// The option of [`SwitchConfig::options`] that sets the `egress_spec` of a dropped packet. The
/// default is [`DEFAULT_DROP_PORT`].
pub const DROP_PORT: &str = "drop_port";

/// BMv2's drop port.
pub const DEFAULT_DROP_PORT: u64 = 511;

/// The v1model architecture. Its value holds the requests of the current block.
#[derive(Debug, Default)]
pub struct V1Model {
    pub(crate) clone: Option<CloneRequest>,
    pub(crate) resubmit: Option<Kept>,
    pub(crate) recirculate: Option<Kept>,
    /// Octets to which the packet is truncated.
    pub(crate) truncate: Option<u32>,
}

impl Architecture for V1Model {
    type Layout = Layout;
    type Call = Call;
    const NAME: &'static str = "v1model";

    fn bind(compiler: &mut Compiler<'_, Self>) {
        blocks::bind(compiler);
    }

    fn entries(layout: &mut Layout) -> impl Iterator<Item = &mut Target> {
        layout.blocks.all_mut().into_iter()
    }

    fn sequences(layout: &Layout, calls: &[Call]) -> Vec<Sequence> {
        blocks::sequences(layout, calls)
    }

    fn calculations(program: &Program) -> Vec<Calculation> {
        calculations::find(program)
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

impl Forwarding for V1Model {
    const EGRESS_WITHOUT_PORT: bool = true;

    fn configure(layout: &Layout, config: &SwitchConfig, words: &mut [u64]) {
        let drop_port = config.options.get(DROP_PORT);
        let drop_port = drop_port.copied().unwrap_or(DEFAULT_DROP_PORT);
        // Metadata without `egress_spec` reads as 0, which must not equal the drop port.
        words[layout.drop_port as usize] = match layout.metadata.egress_spec.mask {
            0 => drop_port,
            mask => drop_port & mask,
        };
    }

    #[inline]
    fn arrive(layout: &Layout, words: &mut [u64], now: Instant, port: u16, packet: &Packet) {
        let meta = &layout.metadata;
        meta.ingress_port.set(words, port as u64);
        meta.packet_length.set(words, packet.length() as u64);
        meta.ingress_global_timestamp.set(words, now.as_micros());
    }

    #[inline]
    fn ingress_port(layout: &Layout, words: &[u64]) -> u16 {
        layout.metadata.ingress_port.get(words) as u16
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
        layout.metadata.priority.get(words) as u8
    }

    #[inline]
    fn queued(layout: &Layout, words: &mut [u64], now: Instant, depth: u32) {
        let meta = &layout.metadata;
        meta.enq_timestamp.set(words, now.as_micros());
        meta.enq_qdepth.set(words, depth as u64);
    }

    #[inline]
    fn copied(layout: &Layout, words: &mut [u64], replica: &Replica) {
        layout.metadata.egress_rid.set(words, replica.rid as u64);
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
