//! The smallest network that recorded traces need: links with drop-tail queues and chosen losses.
//!
//! Time is in floating-point seconds, computed as in that simulator: whether a packet
//! arrives just before or just after a queue's slot falls free at the same instant, and so whether
//! it is dropped, is decided there by the last bit.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use transport::tcp::{Aqt, Connection, Segment};
use units::{Duration, Instant};

/// One direction of a link.
#[derive(Clone, Copy, Debug)]
pub struct LinkSpec {
    /// Bits per second.
    pub rate_bps: u64,
    /// Propagation delay.
    pub delay: Duration,
    /// One more than may wait.
    pub limit: usize,
}

/// A flow from a sender over `forward` to a receiver, and over `backward` for its acknowledgements.
#[derive(Debug)]
pub struct FlowSpec {
    /// When the first packet leaves.
    pub start: Instant,
    /// Where data comes from.
    pub sender: Connection,
    /// Where it is acknowledged.
    pub receiver: Connection,
    /// Numbers of the links that data takes, in order.
    pub forward: Vec<usize>,
    /// Numbers of the links that acknowledgements take, in order.
    pub backward: Vec<usize>,
}

/// What happened at the traced link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A packet joined the queue.
    Enqueue,
    /// A packet left it for the link.
    Dequeue,
    /// A packet found the queue full.
    Refused,
    /// A packet was lost before the queue, as chosen.
    Lost,
}

/// One event at the traced link.
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

/// A loss before the traced queue, or the one back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The flow, by its place.
    pub flow: usize,
    /// Its so-many-th packet to get there, counted from 0.
    pub packet: u64,
    /// On the way back: an acknowledgement.
    pub backward: bool,
}

#[derive(Clone, Copy, Debug)]
struct Packet {
    flow: usize,
    segment: Segment,
    backward: bool,
    hop: usize,
    /// When it joined the queue of the hop.
    queued: Instant,
}

#[derive(Debug)]
struct Link {
    spec: LinkSpec,
    waiting: VecDeque<Packet>,
    busy: bool,
}

#[derive(Debug)]
enum Event {
    Start(usize),
    Arrive(Packet),
    Free(usize),
    Timer(usize),
}

/// Seconds, in order.
#[derive(Debug, PartialEq)]
struct Time(f64);
impl Eq for Time {}
impl PartialOrd for Time {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Time {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

fn instant(at: f64) -> Instant {
    Instant::from_secs_f64(at)
}

/// Links, flows and what is on the way.
#[derive(Debug)]
pub struct Network {
    links: Vec<Link>,
    /// When the timer of each flow's sender is due, and the event that will say so.
    timers: Vec<(Option<Instant>, usize)>,
    flows: Vec<FlowSpec>,
    events: BinaryHeap<Reverse<(Time, usize)>>,
    store: Vec<Option<Event>>,
    traced: usize,
    losses: Vec<Loss>,
    /// Packets of each flow that got to the traced link, and to the one back.
    arrivals: Vec<[u64; 2]>,
    rows: Vec<Row>,
}

impl Network {
    /// Flows over `links`, of which the one numbered `traced` is recorded.
    pub fn new(links: &[LinkSpec], flows: Vec<FlowSpec>, traced: usize, losses: &[Loss]) -> Self {
        let link = |spec: &LinkSpec| Link {
            spec: *spec,
            waiting: VecDeque::new(),
            busy: false,
        };
        let mut network = Network {
            links: links.iter().map(link).collect(),
            timers: vec![(None, 0); flows.len()],
            arrivals: vec![[0; 2]; flows.len()],
            flows,
            events: BinaryHeap::new(),
            store: Vec::new(),
            traced,
            losses: losses.to_vec(),
            rows: Vec::new(),
        };
        for flow in 0..network.flows.len() {
            network.schedule(network.flows[flow].start.as_secs_f64(), Event::Start(flow));
        }
        network
    }

    /// Everything at the traced link up to `end`, as it happened.
    pub fn run(mut self, end: Instant) -> Vec<Row> {
        while let Some(Reverse((Time(now), index))) = self.events.pop() {
            if now > end.as_secs_f64() {
                break;
            }
            let Some(event) = self.store[index].take() else {
                continue;
            };
            match event {
                Event::Start(flow) => self.pump(now, flow),
                Event::Arrive(packet) => self.arrive(now, packet),
                Event::Free(link) => self.serve(now, link),
                Event::Timer(flow) => self.timer(now, flow, index),
            }
        }
        self.rows
    }

    fn schedule(&mut self, at: f64, event: Event) -> usize {
        let index = self.store.len();
        self.events.push(Reverse((Time(at), index)));
        self.store.push(Some(event));
        index
    }

    fn timer(&mut self, now: f64, flow: usize, event: usize) {
        let (Some(due), current) = self.timers[flow] else {
            return;
        };
        if event == current {
            self.timers[flow] = (None, 0);
            // Rounding may have put the event before the nanosecond that the connection waits for.
            let at = due.max(instant(now));
            self.flows[flow].sender.handle_timeout(at);
            self.pump(now, flow);
        }
    }

    fn arrive(&mut self, now: f64, packet: Packet) {
        let flow = &mut self.flows[packet.flow];
        let route = if packet.backward {
            &flow.backward
        } else {
            &flow.forward
        };
        if let Some(&link) = route.get(packet.hop) {
            return self.enqueue(now, link, packet);
        }
        if packet.backward {
            flow.sender.read_clock(now);
            flow.sender.handle_segment(instant(now), &packet.segment);
            return self.pump(now, packet.flow);
        }
        flow.receiver.handle_segment(instant(now), &packet.segment);
        while let Some(segment) = self.flows[packet.flow].receiver.poll_transmit(instant(now)) {
            self.arrive(
                now,
                Packet {
                    flow: packet.flow,
                    segment,
                    backward: true,
                    queued: instant(now),
                    hop: 0,
                },
            );
        }
    }

    fn pump(&mut self, now: f64, flow: usize) {
        self.flows[flow].sender.read_clock(now);
        while let Some(segment) = self.flows[flow].sender.poll_transmit(instant(now)) {
            self.arrive(
                now,
                Packet {
                    flow,
                    segment,
                    backward: false,
                    queued: instant(now),
                    hop: 0,
                },
            );
        }
        let due = self.flows[flow].sender.poll_timeout();
        if due == self.timers[flow].0 {
            return;
        }
        let event = due.map_or(0, |due| {
            let wait = due.since(instant(now));
            self.schedule(now + wait.as_secs_f64(), Event::Timer(flow))
        });
        self.timers[flow] = (due, event);
    }

    fn row(&mut self, at: f64, link: usize, packet: &Packet, kind: Kind) {
        if link != self.traced {
            return;
        }
        // A SYN takes one octet and the number 0, which moves all after it.
        let number = u64::from(packet.segment.seq.div_ceil(packet.segment.payload.max(1)));
        self.rows.push(Row {
            at: instant(at),
            flow: packet.flow,
            number,
            kind,
        });
    }

    fn enqueue(&mut self, now: f64, link: usize, packet: Packet) {
        // Directions of one link are numbered in pairs.
        let here = self.traced ^ usize::from(packet.backward);
        if link == here {
            let arrivals = &mut self.arrivals[packet.flow][usize::from(packet.backward)];
            let loss = Loss {
                flow: packet.flow,
                packet: *arrivals,
                backward: packet.backward,
            };
            *arrivals += 1;
            if self.losses.contains(&loss) {
                return self.row(now, link, &packet, Kind::Lost);
            }
        }
        let Link {
            spec,
            waiting,
            busy,
        } = &mut self.links[link];
        if waiting.len() + 1 >= spec.limit {
            return self.row(now, link, &packet, Kind::Refused);
        }
        waiting.push_back(Packet {
            queued: instant(now),
            ..packet
        });
        let idle = !*busy;
        self.row(now, link, &packet, Kind::Enqueue);
        if idle {
            self.serve(now, link);
        }
    }

    fn serve(&mut self, now: f64, index: usize) {
        let link = &mut self.links[index];
        link.busy = false;
        let Some(mut packet) = link.waiting.pop_front() else {
            return;
        };
        link.busy = true;
        let busy = 8.0 * f64::from(packet.segment.link_octets) / link.spec.rate_bps as f64;
        let delay = link.spec.delay.as_secs_f64();
        self.row(now, index, &packet, Kind::Dequeue);
        packet.hop += 1;
        if let Some(aqt) = &mut packet.segment.aqt {
            // What a hop that knows the option does.
            let us = instant(now).as_micros() - packet.queued.as_micros();
            aqt.time_us = (aqt.time_us + us as u32).min(Aqt::MAX_US);
        }
        self.schedule(now + (busy + delay), Event::Arrive(packet));
        self.schedule(now + busy, Event::Free(index));
    }
}
