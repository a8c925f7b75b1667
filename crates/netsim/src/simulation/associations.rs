//! SCTP: moves packets between the interfaces of hosts and associations, and keeps records.

use super::Simulation;
use super::hosts::TTL;
use crate::event::Event;
use crate::truth::Tag;
use engine::Packet;
use transport::sctp::packet::{Chunk, Packet as SctpPacket, PacketError};
use transport::sctp::{PathStatus, Route};
use transport::wire;
use units::Instant;

impl Simulation {
    /// The owner number in the tags of an association's packets.
    fn association_owner(&self, association: usize) -> usize {
        self.flows.len() + self.sources.len() + association
    }

    /// The association to which a packet belongs by its tag, and which of its ends has `interface`.
    fn association_at(&self, tag: Tag, interface: usize) -> Option<(usize, bool)> {
        let before = self.flows.len() + self.sources.len();
        let index = tag.owner().checked_sub(before)?;
        let flow = self.associations.get(index)?;
        if flow.server.interfaces.contains(&interface) {
            return Some((index, true));
        }
        let client = flow.client.interfaces.contains(&interface);
        client.then_some((index, false))
    }

    pub(super) fn start_association(&mut self, index: usize) {
        self.associations[index].start(self.now);
        self.service_association(index, false);
    }

    pub(super) fn stop_association(&mut self, index: usize) {
        self.associations[index].stop();
    }

    pub(super) fn change_primary(&mut self, index: usize, path: usize) {
        let association = &mut self.associations[index].client.association;
        association.set_primary(path);
        self.service_association(index, false);
    }

    pub(super) fn association_timer(&mut self, index: usize, server: bool) {
        let end = self.associations[index].end(server);
        // An earlier event was scheduled, and has occurred since.
        if end.wake.is_none_or(|wake| wake > self.now) {
            return;
        }
        end.wake = None;
        end.association.handle_timeout(self.now);
        self.service_association(index, server);
    }

    /// An SCTP packet reaches an interface.
    pub(super) fn arrive_with_sctp(&mut self, interface: usize, packet: Packet) {
        let here = self.hosts[interface].address;
        let link_octets = packet.link_octets;
        let at = self.association_at(Tag(packet.tag), interface);
        let mut frame = packet.octets.into();
        let decoded = wire::decode_sctp(&mut frame, packet.elided);
        let decoded = decoded.ok().filter(|(_, to, _)| to.octets() == here.0);
        let (Some((remote, local, octets)), Some((index, server))) = (decoded, at) else {
            self.totals.stray_packets += 1;
            self.buffers.push(frame.into());
            return;
        };
        let flow = &mut self.associations[index];
        let route = Route { local, remote };
        // An invalid packet has no effect; the association counts it.
        let handled = flow
            .end(server)
            .association
            .handle_packet(self.now, route, octets);
        let is_sound = !matches!(
            handled,
            Err(PacketError::BadChecksum { .. } | PacketError::Truncated { .. })
        );
        if server && is_sound {
            let record = &mut flow.record;
            let data = tsns(octets).inspect(|tsn| {
                if let Some(sent) = flow.sent.remove(tsn) {
                    record.add_delay(&self.bins, self.now, sent);
                }
            });
            if data.count() > 0 {
                *self.bins.cell(&mut record.flow.delivered_packets) += 1;
                *self.bins.cell(&mut record.flow.delivered_octets) += u64::from(link_octets);
            }
        }
        self.buffers.push(frame.into());
        self.service_association(index, server);
    }

    /// Processes all output of an association: packets, messages, its next timer.
    fn service_association(&mut self, index: usize, server: bool) {
        let mut octets = std::mem::take(&mut self.sctp_buffer);
        while !self.is_full() {
            let flow = &mut self.associations[index];
            match server {
                true => {
                    while let Some(message) = flow.server.association.read() {
                        let goodput = message.payload.len() as u64;
                        *self.bins.cell(&mut flow.record.flow.goodput_octets) += goodput;
                        flow.server.association.recycle(message.payload);
                    }
                }
                false => flow.feed(),
            }
            let end = flow.end(server);
            let resent = end.association.stats().chunks_resent;
            let Some(route) = end.association.poll_transmit(self.now, &mut octets) else {
                break;
            };
            let resent = end.association.stats().chunks_resent - resent;
            if !server {
                let record = &mut self.associations[index].record;
                *self.bins.cell(&mut record.flow.resent_packets) += u64::from(resent > 0);
            }
            self.send_sctp(index, server, route, &octets);
        }
        self.sctp_buffer = octets;
        let flow = &mut self.associations[index];
        if !server {
            let stats = flow.client.association.stats();
            flow.record.flow.timeouts = stats.timeouts;
            flow.record.switches = stats.switches;
            flow.record.acked_chunks = stats.acked_chunks;
            flow.record.latency_ns = stats.latency_ns;
            flow.record.latency_ns_squared = stats.latency_ns_squared;
            flow.record.note(self.now, &mut flow.client.association);
        }
        let end = flow.end(server);
        while end.association.poll_event().is_some() {}
        let Some(timeout) = end.association.poll_timeout() else {
            return;
        };
        // A later timeout is detected when the earlier event occurs.
        if end.wake.is_none_or(|wake| timeout < wake) {
            let at = timeout.max(self.now);
            end.wake = Some(at);
            let timer = Event::AssociationTimer {
                association: index as u32,
                server,
            };
            self.schedule_at(at, timer);
        }
    }

    fn send_sctp(&mut self, index: usize, server: bool, route: Route, octets: &[u8]) {
        let tag = self.association_owner(index);
        let flow = &mut self.associations[index];
        let end = flow.end(server);
        let local = end.interfaces.iter();
        let mut local = local.copied().enumerate();
        let Some((path, interface)) =
            local.find(|(_, i)| self.hosts[*i].address.0 == route.local.octets())
        else {
            return;
        };
        let mut data = false;
        if !server {
            for tsn in tsns(octets) {
                data = true;
                flow.sent.insert(tsn, self.now);
                // Retransmissions that were lost after their chunk had arrived never arrive.
                if flow.sent.len() > MAX_UNDER_WAY {
                    flow.sent.pop_first();
                }
            }
        }
        if data {
            let record = &mut flow.record;
            *self.bins.cell(&mut record.flow.sent_packets) += 1;
            *self.bins.cell(&mut record.sent_on_path[path]) += 1;
        }
        let mut frame = self.buffer();
        let host = &mut self.hosts[interface];
        let addresses = wire::Flow {
            source_mac: host.mac.0,
            destination_mac: host.gateway_mac.0,
            source: route.local,
            destination: route.remote,
            source_port: 0,
            destination_port: 0,
        };
        let identification = host.next_identification();
        let elided = wire::encode_sctp(&addresses, identification, TTL, octets, &mut frame)
            .expect("an association's packets fit its MTU");
        let link_octets = frame.len() as u32 + elided - ETHERNET_OCTETS;
        let packet = Packet {
            octets: frame.into(),
            elided,
            link_octets,
            tag: Tag::new(tag, data).0,
        };
        self.join_egress(interface, packet);
    }
}

/// The TSNs of the DATA chunks in a packet with a correct checksum.
fn tsns(octets: &[u8]) -> impl Iterator<Item = u32> {
    let packet = SctpPacket::parse_unchecked(octets).ok().into_iter();
    let chunks = packet.flat_map(|packet| packet.chunks());
    chunks.filter_map(|chunk| match chunk {
        Ok(Chunk::Data(data)) => Some(data.tsn.0),
        _ => None,
    })
}

/// The most chunks in flight: what a receive window can hold.
const MAX_UNDER_WAY: usize = 1 << 16;

/// The Ethernet header, which links do not charge.
const ETHERNET_OCTETS: u32 = 14;

impl crate::record::AssociationRecord {
    /// Records the delay of a chunk that was sent at `sent`.
    fn add_delay(&mut self, bins: &crate::record::Bins, now: Instant, sent: Instant) {
        let delay = now.since(sent);
        *bins.cell(&mut self.delay_ns) += delay.as_nanos();
        *bins.cell(&mut self.delay_chunks) += 1;
        if let Some(trace) = &mut self.trace {
            trace.delay_time_s.push(now.as_secs_f64());
            trace.delay_s.push(delay.as_secs_f64());
        }
    }

    /// Records the state of the paths, if anything changed.
    fn note(&mut self, now: Instant, association: &mut transport::sctp::Association) {
        let rtt = association.take_rtt();
        if let Some((_, rtt)) = rtt {
            self.rtt_ns += u128::from(rtt.as_nanos());
            self.rtt_samples += 1;
        }
        let Some(trace) = &mut self.trace else {
            return;
        };
        for (path, status) in association.paths().enumerate() {
            let PathStatus {
                cwnd,
                ssthresh,
                outstanding,
                ..
            } = status;
            let state = (cwnd, ssthresh, outstanding);
            if trace.last.len() <= path {
                trace.last.push((u32::MAX, 0, 0));
            }
            let sample = rtt.filter(|(of, _)| *of == path).map(|(_, rtt)| rtt);
            if trace.last[path] == state && sample.is_none() {
                continue;
            }
            trace.last[path] = state;
            trace.time_s.push(now.as_secs_f64());
            trace.path.push(path as u64);
            trace.cwnd_octets.push(f64::from(cwnd));
            trace.ssthresh_octets.push(f64::from(ssthresh));
            trace.outstanding_octets.push(f64::from(outstanding));
            trace
                .rtt_s
                .push(sample.map_or(f64::NAN, |rtt| rtt.as_secs_f64()));
        }
    }
}
