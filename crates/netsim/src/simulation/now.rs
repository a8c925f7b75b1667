//! The state of a run now, and who watches it.

use super::Simulation;
use crate::flow::Side;
use crate::line::Node;
use crate::observe::{LineNow, Observer};
use crate::queue::DropTail;
use crate::trace::{Trace, Tracer};

impl Simulation {
    /// Shows every packet to `observer` from now on.
    pub fn observe(&mut self, observer: Option<Box<dyn Observer>>) {
        self.stay_whole();
        self.observer = observer;
    }

    /// Hands what packets meet in a switch's program to `tracer`.
    pub fn set_tracer(&mut self, switch: usize, tracer: Option<Box<dyn engine::Tracer>>) {
        self.stay_whole();
        self.switches[switch].switch.set_tracer(tracer);
    }

    /// The programs of the switches, in their order.
    pub fn switch_programs(&self) -> impl Iterator<Item = &p4_ir::Program> {
        self.switches.iter().map(|node| node.switch.program())
    }

    /// The lines as they are now: two for each link, `a` to `b` and back.
    pub fn lines(&self) -> impl Iterator<Item = LineNow<'_>> {
        self.lines.iter().map(|line| LineNow {
            name: &line.name,
            rate_bps: line.rate().as_bps(),
            delay_s: line.delay_s(),
            waiting: match line.from.node {
                Node::Switch(switch) => {
                    let port = self.switches[switch].switch.port_stats(line.from.port);
                    port.waiting
                }
                Node::Host(_) | Node::Router(_) => line.queue.as_ref().map_or(0, DropTail::waiting),
            },
        })
    }

    /// Octets of data that arrived at each flow's receiver so far, as links charge them, copies included.
    pub fn delivered_octets(&self) -> impl Iterator<Item = u64> {
        let records = self.traffic.iter().take(self.flows.len());
        records.map(|record| record.delivered_octets.iter().sum())
    }

    /// Takes out what a flow's trace has kept so far; none where the flow has no trace.
    pub fn take_trace(&mut self, flow: usize) -> Option<Trace> {
        let sender = self.ends.get_mut(Side::Sender.end(flow))?.open()?;
        let tracer = sender.tracer.as_mut();
        tracer.map(Tracer::take)
    }
}
