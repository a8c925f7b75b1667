//! A replay's eye on a queue: it notes what happens there, and chooses packets to be lost.

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
    /// It was lost before the queue, as chosen.
    Lost,
}

/// One event at a queue.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// When.
    pub at: Instant,
    /// The flow, by its place.
    pub flow: usize,
    /// The packet: octet sequence number over payload size.
    pub number: u64,
    /// What happened.
    pub kind: Kind,
}

/// What is seen and done at one queue.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// Packets to be lost: the flow, and which of its packets to get here, counted from 0.
    pub losses: BTreeSet<(usize, u64)>,
    /// Packets of each flow that got here.
    arrivals: BTreeMap<usize, u64>,
    /// What happened, in order.
    pub rows: Vec<Row>,
}

impl Watch {
    /// Whether a packet that gets here was chosen to be lost.
    pub fn loses(&mut self, packet: &Packet) -> bool {
        let flow = Tag(packet.tag).owner();
        let arrivals = self.arrivals.entry(flow).or_default();
        let number = *arrivals;
        *arrivals += 1;
        self.losses.contains(&(flow, number))
    }

    /// Notes what happened to a TCP packet.
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
            // A SYN takes one octet and the number 0, which moves all after it.
            number: u64::from(segment.seq.div_ceil(segment.payload.max(1))),
            kind,
        });
    }
}
