//! Hosts: what arrives goes to connections and sinks, what they send into the queue in front of their line.

use super::Simulation;
use crate::event::Event;
use crate::flow::{FIRST_PORT, Side};
use crate::truth::Tag;
use engine::Packet;
use transport::tcp::{Ecn, Flags, Segment};
use transport::wire;

/// Time to live of packets that hosts send.
pub(super) const TTL: u8 = 64;

impl Simulation {
    /// A packet reaches its host, or one that did not expect it.
    pub(super) fn arrive_at_host(&mut self, host: usize, packet: Packet) {
        self.reach_host(host);
        if wire::is_sctp(&packet.octets) {
            return self.arrive_with_sctp(host, packet);
        }
        let tag = Tag(packet.tag);
        let link_octets = packet.link_octets;
        let decoded = wire::decode(&packet.octets, packet.elided);
        self.buffers.push(packet.octets);
        let here = self.hosts[host].address;
        let Some(decoded) = decoded
            .ok()
            .filter(|p| p.flow.destination.octets() == here.0)
        else {
            self.totals.stray_packets += 1;
            return;
        };
        let owner = usize::from(decoded.flow.destination_port.wrapping_sub(FIRST_PORT));
        match decoded.body {
            wire::Body::Tcp(segment) if owner < self.flows.len() => {
                self.check_marks(owner, tag, &segment);
                self.receive_segment(owner, host, &segment, link_octets);
            }
            wire::Body::Udp { payload } if owner >= self.flows.len() => {
                self.receive_datagram(owner - self.flows.len(), host, payload, link_octets);
            }
            _ => self.totals.stray_packets += 1,
        }
    }

    fn receive_segment(&mut self, flow: usize, host: usize, segment: &Segment, link_octets: u32) {
        let side = match host {
            h if h == self.flows[flow].to => Side::Receiver,
            h if h == self.flows[flow].from => Side::Sender,
            _ => {
                self.totals.stray_packets += 1;
                return;
            }
        };
        let connection = &mut self.ends[side.end(flow)].connection;
        connection.read_clock(self.turn.seconds());
        let before = connection.stats().delivered_octets;
        connection.handle_segment(self.now, segment);
        let in_order = connection.stats().delivered_octets - before;
        if side == Side::Receiver && segment.payload > 0 {
            let record = &mut self.traffic[flow];
            *self.bins.cell(&mut record.delivered_packets) += 1;
            *self.bins.cell(&mut record.delivered_octets) += u64::from(link_octets);
            *self.bins.cell(&mut record.goodput_octets) += in_order;
        }
        self.service(flow, side);
    }

    fn receive_datagram(&mut self, source: usize, host: usize, payload: u32, link_octets: u32) {
        if self.sources.get(source).is_none_or(|s| s.sink != host) {
            self.totals.stray_packets += 1;
            return;
        }
        let record = &mut self.traffic[self.flows.len() + source];
        *self.bins.cell(&mut record.delivered_packets) += 1;
        *self.bins.cell(&mut record.delivered_octets) += u64::from(link_octets);
        *self.bins.cell(&mut record.goodput_octets) += u64::from(payload);
    }

    /// Compares a segment's marks with what the simulator knows.
    fn check_marks(&mut self, flow: usize, tag: Tag, segment: &Segment) {
        let now = self.now;
        let flow = &self.flows[flow];
        // What opens or breaks off a connection has no options.
        let bare = segment.flags.intersects(Flags::SYN | Flags::RST);
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

    /// Something happens at a host: not before what happened there.
    pub(super) fn reach_host(&mut self, host: usize) {
        self.now = self.now.max(self.hosts[host].reached);
    }

    pub(super) fn start_flow(&mut self, flow: usize) {
        self.reach_host(self.flows[flow].from);
        self.service(flow, Side::Sender);
    }

    pub(super) fn stop_flow(&mut self, flow: usize) {
        self.reach_host(self.flows[flow].from);
        self.ends[Side::Sender.end(flow)].connection.stop();
        self.service(flow, Side::Sender);
    }

    pub(super) fn timer(&mut self, flow: usize, receiver: bool) {
        let side = if receiver {
            Side::Receiver
        } else {
            Side::Sender
        };
        let end = &mut self.ends[side.end(flow)];
        // An earlier event has been scheduled and has come since.
        if end.wake != Some(self.turn) {
            return;
        }
        end.wake = None;
        let host = &mut self.hosts[end.host];
        self.now = self.now.max(host.reached);
        if let Some((at, turn)) = end.timer
            && turn == self.turn
        {
            // Rounding may have put the event before the nanosecond that the connection waits for.
            self.now = self.now.max(at);
            host.reached = self.now;
            end.timer = None;
            end.connection.handle_timeout(self.now);
            if side == Side::Sender {
                self.traffic[flow].timeouts = end.connection.stats().timeouts;
            }
        }
        self.service(flow, side);
    }

    /// Takes out of a connection all that it has: segments, its next timer, its trace.
    fn service(&mut self, flow: usize, side: Side) {
        let index = side.end(flow);
        let connection = &mut self.ends[index].connection;
        connection.read_clock(self.turn.seconds());
        let resent = connection.stats().resent;
        while !self.is_full()
            && let Some(segment) = self.ends[index].connection.poll_transmit(self.now)
        {
            self.send_segment(flow, side, segment);
        }
        if side == Side::Sender {
            self.record_sender(flow, resent);
        }
        let end = &mut self.ends[index];
        let Some(timeout) = end.connection.poll_timeout() else {
            end.timer = None;
            return;
        };
        let turn = match end.timer.filter(|(at, _)| *at == timeout) {
            Some((_, turn)) => turn,
            None => {
                let left_s = timeout.since(self.now).as_secs_f64();
                let turn = self.events.take_turn(self.turn.seconds() + left_s);
                end.timer = Some((timeout, turn));
                if let Some(part) = &mut self.part {
                    part.timers.push(index);
                }
                turn
            }
        };
        // A later timeout is found when the earlier event comes.
        if end.wake.is_none_or(|wake| turn < wake) {
            end.wake = Some(turn);
            let timer = Event::Timer {
                flow: flow as u32,
                receiver: side == Side::Receiver,
            };
            self.events.put(turn, timer);
        }
    }

    /// Notes what a sender did; `resent` is what it had sent again before.
    fn record_sender(&mut self, flow: usize, resent: u64) {
        let end = &mut self.ends[Side::Sender.end(flow)];
        let record = &mut self.traffic[flow];
        let resent = end.connection.stats().resent - resent;
        if resent > 0 {
            *self.bins.cell(&mut record.resent_packets) += resent;
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

    fn send_segment(&mut self, flow: usize, side: Side, segment: Segment) {
        let data = segment.payload > 0;
        if data {
            let record = &mut self.traffic[flow];
            *self.bins.cell(&mut record.sent_packets) += 1;
            record.packet.note(&segment);
        }
        let end = &self.ends[side.end(flow)];
        let (host, addresses) = (end.host, end.addresses);
        let tag = Tag::new(flow as u16, data);
        let octets = segment.link_octets;
        self.send(host, addresses, wire::Body::Tcp(segment), octets, tag);
    }

    pub(super) fn send_datagram(&mut self, source_index: usize) {
        let owner = self.flows.len() + source_index;
        let source = &self.sources[source_index];
        let next = self.departures[source_index].next();
        *self.bins.cell(&mut self.traffic[owner].sent_packets) += 1;
        let (host, addresses, octets) = (source.host, source.addresses, source.packet_octets);
        let body = wire::Body::Udp {
            payload: octets - UDP_HEADERS,
        };
        let tag = Tag::new(owner as u16, true);
        self.reach_host(host);
        self.send(host, addresses, body, octets, tag);
        if let Some(next) = next {
            self.schedule_at(next, Event::Source(source_index as u32));
        }
    }

    /// Writes a packet's octets and puts it into its host's queue.
    fn send(
        &mut self,
        host_index: usize,
        flow: wire::Flow,
        body: wire::Body,
        link_octets: u32,
        tag: Tag,
    ) {
        let mut octets = self.buffer();
        octets.resize(wire::MAX_HEADER_OCTETS, 0);
        let host = &mut self.hosts[host_index];
        let packet = wire::Packet {
            flow,
            identification: host.next_identification(),
            ttl: TTL,
            body,
        };
        let length = wire::encode(&packet, &mut octets)
            .expect("the sizes of a checked scenario fit into IPv4's length");
        octets.truncate(length);
        let packet = Packet {
            octets,
            elided: body.payload(),
            link_octets,
            tag: tag.0,
        };
        self.join_egress(host_index, packet);
    }

    /// Puts a packet into the queue of its host's interface.
    pub(super) fn join_egress(&mut self, interface: usize, packet: Packet) {
        self.totals.packets += 1;
        if let Some(line) = self.hosts[interface].line {
            self.join_queue(line, packet);
        }
    }
}

/// IPv4 and UDP headers.
const UDP_HEADERS: u32 = 28;
