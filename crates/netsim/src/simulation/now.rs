//! The current state of a run, and its observers.

use super::Simulation;
use crate::flow::Side;
use crate::line::Node;
use crate::observe::{LineNow, Observer};
use crate::queue::DropTail;
use crate::trace::{Trace, Tracer};

impl Simulation {
    /// Notifies `observer` of every packet from now on.
    pub fn observe(&mut self, observer: Option<Box<dyn Observer>>) {
        self.stay_whole();
        self.observer = observer;
    }

    /// Passes the trace events of a switch's program to `tracer`.
    pub fn set_tracer(&mut self, switch: usize, tracer: Option<Box<dyn engine::Tracer>>) {
        self.stay_whole();
        self.switches[switch].switch.set_tracer(tracer);
    }

    /// The programs of the switches, in order.
    pub fn switch_programs(&self) -> impl Iterator<Item = &p4_ir::Program> {
        self.switches.iter().map(|node| node.switch.program())
    }

    /// The current state of the lines: two for each link, `a` to `b` and back.
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

    /// Octets of data that have arrived at each flow's receiver, as charged by links, including duplicates.
    pub fn delivered_octets(&self) -> impl Iterator<Item = u64> {
        let records = self.traffic.iter().take(self.flows.len());
        records.map(|record| record.delivered_octets.iter().sum())
    }

    /// Removes and returns the trace of a flow so far. `None` if the flow is not traced.
    pub fn take_trace(&mut self, flow: usize) -> Option<Trace> {
        let sender = self.ends.get_mut(Side::Sender.end(flow))?.open()?;
        let tracer = sender.tracer.as_mut();
        tracer.map(Tracer::take)
    }
}
