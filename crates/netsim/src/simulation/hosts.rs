//! Hosts: passes arriving packets to connections and sinks, and outgoing packets to the queue in front of the host's
//! line.

use super::Simulation;
use crate::event::Event;
use crate::flow::{End, Flow, Side, Slot};
use crate::truth::Tag;
use engine::Packet;
use std::net::Ipv4Addr;
use transport::tcp::{Ecn, Flags, Segment, Trimming};
use transport::wire;

/// Time to live of packets that hosts send.
pub(super) const TTL: u8 = 64;

impl Simulation {
    /// Handles a packet that reaches a host. It may not be addressed to this host.
    pub(super) fn arrive_at_host(&mut self, host: usize, packet: Packet) {
        self.reach_host(host);
        if wire::is_sctp(&packet.octets) {
            return self.arrive_with_sctp(host, packet);
        }
        let tag = Tag(packet.tag);
        self.is_gone(tag.owner());
        let link_octets = packet.link_octets;
        let mut arrived = wire::Packet::default();
        let decoded = wire::decode_into(&packet.octets, packet.elided, &mut arrived);
        self.buffers.push(packet.octets);
        let here = self.hosts[host].address;
        if decoded.is_err() || arrived.flow.destination.octets() != here.0 {
            self.totals.stray_packets += 1;
            return;
        }
        let port = arrived.flow.destination_port;
        let remote = arrived.flow.source;
        match &arrived.body {
            wire::Body::Tcp(segment) => match self.flow_at(port, host, remote) {
                Some((flow, side)) => {
                    self.check_marks(flow, tag, segment);
                    self.receive_segment(flow, side, segment, link_octets);
                }
                None => self.totals.stray_packets += 1,
            },
            wire::Body::Udp { payload } => match self.source_at(port, host, remote) {
                Some(source) => self.receive_datagram(source, *payload, link_octets),
                None => self.totals.stray_packets += 1,
            },
        }
    }

    /// The flow of a segment at a host, found by ports and hosts, and the end that receives it.
    fn flow_at(&self, port: u16, host: usize, remote: Ipv4Addr) -> Option<(usize, Side)> {
        let flows = self.ports.at(port).take_while(|&n| n < self.flows.len());
        let here = flows.filter_map(|flow| {
            let Flow { from, to, .. } = self.flows[flow];
            let side = match host {
                h if h == to => Side::Receiver,
                h if h == from => Side::Sender,
                _ => return None,
            };
            Some((flow, side))
        });
        only(here, |&(flow, side)| {
            self.flows[flow].addresses(side).destination == remote
        })
    }

    /// The source of a datagram at a host.
    fn source_at(&self, port: u16, host: usize, remote: Ipv4Addr) -> Option<usize> {
        let sources = self.ports.at(port);
        let sources = sources.filter_map(|number| number.checked_sub(self.flows.len()));
        let here = sources.filter(|&source| {
            let source = self.sources.get(source);
            source.is_some_and(|source| source.sink == host)
        });
        only(here, |&source| {
            self.sources[source].addresses.source == remote
        })
    }

    fn receive_segment(&mut self, flow: usize, side: Side, segment: &Segment, link_octets: u32) {
        let (now, seconds) = (self.now, self.turn.seconds());
        let end = self.opened(flow, side);
        let in_order = end.map_or(0, |end| {
            let connection = &mut end.connection;
            connection.read_clock(seconds);
            let before = connection.stats().delivered_octets;
            connection.handle_segment(now, segment);
            connection.stats().delivered_octets - before
        });
        if side == Side::Receiver && segment.payload > 0 {
            let record = &mut self.traffic[flow];
            if segment.trimming == Trimming::Cut {
                *self.bins.flow_cell(&mut record.trimmed_packets) += 1;
            } else {
                *self.bins.flow_cell(&mut record.delivered_packets) += 1;
                *self.bins.flow_cell(&mut record.delivered_octets) += u64::from(link_octets);
                *self.bins.flow_cell(&mut record.goodput_octets) += in_order;
            }
        }
        self.service(flow, side);
    }

    fn receive_datagram(&mut self, source: usize, payload: u32, link_octets: u32) {
        let record = &mut self.traffic[self.flows.len() + source];
        *self.bins.cell(&mut record.delivered_packets) += 1;
        *self.bins.cell(&mut record.delivered_octets) += u64::from(link_octets);
        *self.bins.cell(&mut record.goodput_octets) += u64::from(payload);
    }

    /// Compares the marks of a segment with what the simulator knows.
    fn check_marks(&mut self, flow: usize, tag: Tag, segment: &Segment) {
        let now = self.now;
        let flow = &self.flows[flow];
        // Segments that open or reset a connection have no options, and options of a trimmed segment are not read.
        let bare =
            segment.flags.intersects(Flags::SYN | Flags::RST) || segment.trimming == Trimming::Cut;
        let what = || match segment.payload {
            0 => format!("{now}: {}, ACK {}", flow.name, segment.ack),
            _ => format!("{now}: {}, data from octet {}", flow.name, segment.seq),
        };
        if let Some(check) = self.check_aqt.as_mut().filter(|_| flow.aqt && !bare) {
            let (says, truth) = (segment.aqt.map(|aqt| aqt.time_us), tag.aqt_us());
            check.compare(self.turn, says == Some(truth), || {
                let says = says.map_or("nothing".to_string(), |us| format!("{us} us"));
                format!("{}: AQT says {says}, the queues {truth} us", what())
            });
        }
        if let Some(check) = self.check_ci.as_mut().filter(|_| flow.ci && tag.is_data()) {
            let truth = match tag.is_marked() {
                true => Ecn::Experienced,
                false => Ecn::Ect0,
            };
            check.compare(self.turn, segment.ecn == truth, || {
                let says = segment.ecn;
                format!("{}: the ECN field is {says:?}, not {truth:?}", what())
            });
        }
    }

    /// Advances the current time to that of the host's last event, so that time at a host never goes back.
    pub(super) fn reach_host(&mut self, host: usize) {
        self.now = self.now.max(self.hosts[host].reached);
    }

    pub(super) fn start_flow(&mut self, flow: usize) {
        self.reach_host(self.flows[flow].from);
        self.service(flow, Side::Sender);
    }

    pub(super) fn stop_flow(&mut self, flow: usize) {
        self.reach_host(self.flows[flow].from);
        if let Some(end) = self.opened(flow, Side::Sender) {
            end.connection.stop();
        }
        self.service(flow, Side::Sender);
    }

    /// An end of a flow. It is opened at its first event. `None` if it is over.
    fn opened(&mut self, flow: usize, side: Side) -> Option<&mut End> {
        let slot = &mut self.ends[side.end(flow)];
        if matches!(slot, Slot::Unopened) {
            *slot = Slot::Open(Box::new(self.flows[flow].end(side)));
        }
        slot.open()
    }

    pub(super) fn timer(&mut self, flow: usize, receiver: bool) {
        let side = if receiver {
            Side::Receiver
        } else {
            Side::Sender
        };
        let turn = self.turn;
        let host = self.flows[flow].host(side);
        // An earlier event was scheduled and has occurred since, or the connection is over.
        let end = self.ends[side.end(flow)].open();
        let Some(end) = end.filter(|end| end.wake == Some(turn)) else {
            return;
        };
        end.wake = None;
        let was_quiet = end.connection.is_quiet();
        let host = &mut self.hosts[host];
        self.now = self.now.max(host.reached);
        if let Some((at, timeout)) = end.timer
            && timeout == turn
        {
            // Rounding may have put the event before the nanosecond for which the connection waits.
            self.now = self.now.max(at);
            if !was_quiet || self.ending.is_none() {
                host.reached = self.now;
            }
            end.timer = None;
            end.connection.handle_timeout(self.now);
            if side == Side::Sender {
                self.traffic[flow].timeouts = end.connection.stats().timeouts;
            }
        }
        self.service(flow, side);
        if !was_quiet
            && self.ends[side.end(flow)]
                .open()
                .is_none_or(|end| end.connection.is_quiet())
        {
            self.is_quiet(flow);
        }
    }

    /// Processes all output of a connection: segments, its next timer, its trace.
    fn service(&mut self, flow: usize, side: Side) {
        let index = side.end(flow);
        let seconds = self.turn.seconds();
        let Some(end) = self.opened(flow, side) else {
            return;
        };
        end.connection.read_clock(seconds);
        let resent = end.connection.stats().resent;
        while !self.is_full()
            && let Some(end) = self.ends[index].open()
            && let Some(segment) = end.connection.poll_transmit(self.now)
        {
            self.send_segment(flow, side, &segment);
        }
        if side == Side::Sender {
            self.record_sender(flow, resent);
        }
        let Some(end) = self.ends[index].open() else {
            return;
        };
        let Some(timeout) = end.connection.poll_timeout() else {
            end.timer = None;
            if end.connection.is_closed() && end.is_recorded() {
                self.ends[index] = Slot::Over;
            }
            return;
        };
        let turn = match end.timer.filter(|(at, _)| *at == timeout) {
            Some((_, turn)) => turn,
            None => {
                let left_s = timeout.since(self.now).as_secs_f64();
                let turn = self.events.take_turn(seconds + left_s);
                end.timer = Some((timeout, turn));
                if let Some(part) = &mut self.part {
                    part.timers.push(index);
                }
                turn
            }
        };
        // A later timeout is detected when the earlier event occurs.
        if end.wake.is_none_or(|wake| turn < wake) {
            end.wake = Some(turn);
            let timer = Event::Timer {
                flow: flow as u32,
                receiver: side == Side::Receiver,
            };
            self.events.put(turn, timer);
        }
    }

    /// Records the activity of a sender. `resent` is its number of retransmissions before.
    fn record_sender(&mut self, flow: usize, resent: u64) {
        let Some(end) = self.ends[Side::Sender.end(flow)].open() else {
            return;
        };
        let record = &mut self.traffic[flow];
        let stats = end.connection.stats();
        record.reported_marks = stats.reported_marks;
        let resent = stats.resent - resent;
        if resent > 0 {
            *self.bins.flow_cell(&mut record.resent_packets) += resent;
        }
        if record.finished.is_none() && end.connection.is_finished() {
            record.finished = Some(self.now);
        }
        if let Some(tracer) = &mut end.tracer {
            while let Some(change) = end.connection.poll_trace() {
                tracer.record(&change);
            }
        }
        if let Some(losses) = &mut end.losses {
            let judgement = losses.news(end.connection.verdicts());
            match (judgement, &mut self.part) {
                (Some(judgement), None) => losses.judge(judgement),
                (Some(judgement), Some(part)) => part.judge(self.turn, flow, judgement),
                (None, _) => {}
            }
        }
    }

    fn send_segment(&mut self, flow: usize, side: Side, segment: &Segment) {
        let data = segment.payload > 0;
        if data {
            let record = &mut self.traffic[flow];
            *self.bins.flow_cell(&mut record.sent_packets) += 1;
            record.packet.note(segment);
        }
        self.departs(flow);
        let known = &self.flows[flow];
        let (host, addresses) = (known.host(side), known.addresses(side));
        let tag = Tag::new(flow, data);
        let packet = wire::Packet {
            flow: addresses,
            identification: self.hosts[host].next_identification(),
            ttl: TTL,
            body: wire::Body::Tcp(*segment),
        };
        self.send(host, &packet, segment.link_octets, tag);
    }

    pub(super) fn send_datagram(&mut self, source_index: usize) {
        let owner = self.flows.len() + source_index;
        let source = &self.sources[source_index];
        let next = self.departures[source_index].next();
        *self.bins.cell(&mut self.traffic[owner].sent_packets) += 1;
        let (host, addresses, octets) = (source.host, source.addresses, source.packet_octets);
        let packet = wire::Packet {
            flow: addresses,
            identification: self.hosts[host].next_identification(),
            ttl: TTL,
            body: wire::Body::Udp {
                payload: octets - UDP_HEADERS,
            },
        };
        self.reach_host(host);
        self.send(host, &packet, octets, Tag::new(owner, true));
        if let Some(next) = next {
            self.schedule_at(next, Event::Source(source_index as u32));
        }
    }

    /// Serialises a packet and adds it to the queue of its host.
    fn send(&mut self, host: usize, packet: &wire::Packet, link_octets: u32, tag: Tag) {
        let mut octets = self.buffer();
        wire::encode_whole(packet, &mut octets)
            .expect("the sizes of a checked scenario fit into IPv4's length");
        let packet = Packet {
            octets: octets.into(),
            elided: packet.body.payload(),
            link_octets,
            tag: tag.0,
        };
        self.join_egress(host, packet);
    }

    /// Adds a packet to the queue of its host's interface.
    pub(super) fn join_egress(&mut self, interface: usize, packet: Packet) {
        self.totals.packets += 1;
        if let Some(line) = self.hosts[interface].line {
            self.join_queue(line, packet);
        }
    }
}

/// The only user of a port at a host, or the one that `fits` if there are several.
fn only<T>(mut here: impl Iterator<Item = T>, fits: impl Fn(&T) -> bool) -> Option<T> {
    let first = here.next()?;
    match here.next() {
        None => Some(first),
        Some(second) => [first, second].into_iter().chain(here).find(fits),
    }
}

/// IPv4 and UDP headers.
const UDP_HEADERS: u32 = 28;
