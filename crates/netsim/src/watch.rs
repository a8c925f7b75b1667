//! The watch of a replay on a queue: records its events, and selects packets to be lost.

use crate::truth::Tag;
use engine::Packet;
use std::collections::{BTreeMap, BTreeSet};
use transport::wire;
use units::Instant;

/// What happened to a packet at a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It joined the queue.
    Enqueue,
    /// It left for the line.
    Dequeue,
    /// It found the queue full.
    Refused,
    /// It was lost before the queue because it was selected.
    Lost,
}

/// One event at a queue.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The time.
    pub at: Instant,
    /// The index of the flow.
    pub flow: usize,
    /// The packet's number: sequence number divided by payload size.
    pub number: u64,
    /// The kind of event.
    pub kind: Kind,
}

/// The watch on one queue.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// Packets to lose: the flow, and the index of its packet on arrival here, counted from 0.
    pub losses: BTreeSet<(usize, u64)>,
    /// Number of packets of each flow that have arrived here.
    arrivals: BTreeMap<usize, u64>,
    /// The events, in order.
    pub rows: Vec<Row>,
}

impl Watch {
    /// Whether an arriving packet was selected to be lost.
    pub fn loses(&mut self, packet: &Packet) -> bool {
        let flow = Tag(packet.tag).owner();
        let arrivals = self.arrivals.entry(flow).or_default();
        let number = *arrivals;
        *arrivals += 1;
        self.losses.contains(&(flow, number))
    }

    /// Records an event of a TCP packet.
    pub fn note(&mut self, at: Instant, packet: &Packet, kind: Kind) {
        let Ok(decoded) = wire::decode(&packet.octets, packet.elided) else {
            return;
        };
        let wire::Body::Tcp(segment) = decoded.body else {
            return;
        };
        self.rows.push(Row {
            at,
            flow: Tag(packet.tag).owner(),
            // A SYN occupies one sequence number and has packet number 0, so all later numbers are
            // shifted.
            number: u64::from(segment.seq.div_ceil(segment.payload.max(1))),
            kind,
        });
    }
}
