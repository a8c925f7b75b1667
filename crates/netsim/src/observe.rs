//! Watching a run: the state of lines and flows now, and an observer of packets.
//!
//! Nothing here changes a run: with and without an observer it gives the same results.

use crate::flow::Side;
use crate::line::Node;
use crate::queue::DropTail;
use crate::simulation::Simulation;
use crate::trace::{Trace, Tracer};
use engine::Packet;
use std::fmt::Debug;

/// Listens to packets. Nothing is prepared for it while there is none.
pub trait Observer: Debug + Send {
    /// A packet was put on a line.
    fn sent(&mut self, sent: Sent<'_>);

    /// A packet is about to enter a switch's program.
    fn enters(&mut self, switch: usize, packet: &Packet);

    /// The program is done with the packet that entered: it waits in a queue, or was dropped.
    fn entered(&mut self, switch: usize);

    /// A packet left a switch; what the switch's tracer heard of its egress came just before.
    fn left(&mut self, switch: usize, packet: &Packet);
}

/// A transmission.
#[derive(Clone, Copy, Debug)]
pub struct Sent<'a> {
    /// The line's index in [`Simulation::lines`].
    pub line: usize,
    /// When its first octet leaves, in seconds.
    pub start_s: f64,
    /// When its last octet arrives, in seconds.
    pub arrive_s: f64,
    /// It is lost on the way.
    pub lost: bool,
    /// The packet.
    pub packet: &'a Packet,
}

/// One direction of a link, and the queue in front of it, as they are now.
#[derive(Clone, Debug, PartialEq)]
pub struct LineNow<'a> {
    /// `"from->to"`.
    pub name: &'a str,
    /// Bits per second.
    pub rate_bps: u64,
    /// Seconds of propagation.
    pub delay_s: f64,
    /// Packets that wait; the one in service does not.
    pub waiting: u32,
}

impl Simulation {
    /// Shows every packet to `observer` from now on.
    pub fn observe(&mut self, observer: Option<Box<dyn Observer>>) {
        self.unite();
        self.observer = observer;
    }

    /// Hands what packets meet in a switch's program to `tracer`.
    pub fn set_tracer(&mut self, switch: usize, tracer: Option<Box<dyn engine::Tracer>>) {
        self.unite();
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
            rate_bps: line.rate.as_bps(),
            delay_s: line.delay.as_secs_f64(),
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
        let sender = self.ends.get_mut(Side::Sender.end(flow))?;
        let tracer = sender.tracer.as_mut();
        tracer.map(Tracer::take)
    }
}
