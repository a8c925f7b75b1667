//! Dividing a network into parts that run on threads of their own, and putting them together again.
//!
//! Nodes that must see each other's state at once stay together: stations of a medium, the hosts of an SCTP
//! association, the interfaces of a host, the ends of a link without delay. So do a switch and its hosts where
//! that leaves enough pieces. Pieces are laid out from neighbour to neighbour, and cut into parts of about
//! the same load.

use super::Simulation;
use super::part::{Owners, Part};
use crate::event::{Event, EventQueue};
use crate::line::Node;
use crate::share::Share;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use units::Duration;

/// Links with less delay than this do not join parts: rounds would have no events.
const LEAST_DELAY: Duration = Duration::from_nanos(50);
/// What rounding may take from a delay, in seconds.
const ROUNDING_S: f64 = 2e-9;
/// Parts that there may be.
const MAX_PARTS: usize = 256;

/// How a network was divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// Threads that it runs on.
    pub threads: usize,
    /// Why they are not as many as asked for.
    pub limit: Option<Limit>,
}

/// What keeps a network from being divided further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// A congestion control of the caller's, which runs on one thread.
    OwnControl,
    /// The samples of switches' objects, which are thinned out together.
    Samples,
    /// A capture, an observer or a replay, which see packets in one order.
    Watched,
    /// Too few pieces that links with delay join.
    Pieces,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limit::OwnControl => "a congestion control in Python runs on one thread",
            Limit::Samples => "samples of counters and registers are taken on one thread",
            Limit::Watched => "a capture is written by one thread",
            Limit::Pieces => {
                "links with a delay do not join more pieces (nodes on a wireless medium, and the hosts of an \
                 SCTP association, stay together)"
            }
        })
    }
}

/// Where each thing of a network is.
struct Places {
    hosts: Vec<u32>,
    switches: Vec<u32>,
    routers: Vec<u32>,
    parts: usize,
}

impl Places {
    fn of(&self, node: Node) -> u32 {
        match node {
            Node::Host(host) => self.hosts[host],
            Node::Switch(switch) => self.switches[switch],
            Node::Router(router) => self.routers[router],
        }
    }
}

impl Simulation {
    /// Divides the network among up to `threads` threads, from now on. The results are the same.
    pub fn divide(&mut self, threads: usize) -> Division {
        self.unite();
        let whole = |limit| Division { threads: 1, limit };
        if threads <= 1 {
            return whole(None);
        }
        if self.own_controls {
            return whole(Some(Limit::OwnControl));
        }
        if self.sampler.is_some() {
            return whole(Some(Limit::Samples));
        }
        let watched = self.lines.iter().filter_map(|line| line.queue.as_ref());
        if self.capture.is_some()
            || self.observer.is_some()
            || watched.into_iter().any(|queue| queue.watch.is_some())
        {
            return whole(Some(Limit::Watched));
        }
        let places = self.places(threads.min(MAX_PARTS));
        let limit = (places.parts < threads).then_some(Limit::Pieces);
        if places.parts < 2 {
            return whole(limit);
        }
        self.split(&places);
        Division {
            threads: places.parts,
            limit,
        }
    }

    /// The least time that anything takes from one part to another, in seconds.
    fn least_time_s(&self) -> f64 {
        let between = self.parts.iter().flat_map(|part| {
            let lines = self.destinations.len();
            let state = part.part.as_ref();
            (0..lines).filter(move |&line| {
                part.lines.has(line) && state.is_some_and(|state| state.is_elsewhere(line))
            })
        });
        let delays = between.map(|line| self.least_delay_s(line));
        delays.fold(f64::INFINITY, f64::min) * (1.0 - 1e-9) - ROUNDING_S
    }

    /// The least delay that a line ever has, in seconds.
    fn least_delay_s(&self, line: usize) -> f64 {
        let now = self.parts.iter().find_map(|part| part.lines.get(line));
        let now = now.or_else(|| self.lines.get(line));
        let now = now.map_or(0.0, |line| line.delay.as_secs_f64());
        // A change in the other direction does no harm here.
        let changes = self.links[line / 2].changes.iter();
        changes
            .filter_map(|change| change.delay_s)
            .fold(now, f64::min)
    }

    /// Which part each node is to be in.
    fn places(&self, threads: usize) -> Places {
        let (hosts, switches) = (self.hosts.iter().len(), self.switches.iter().len());
        let number = |node: Node| match node {
            Node::Host(host) => host,
            Node::Switch(switch) => hosts + switch,
            Node::Router(router) => hosts + switches + router,
        };
        let nodes = hosts + switches + self.routers.iter().len();
        let mut tied = Pieces::new(nodes);
        for association in self.associations.iter() {
            let client = association.client.interfaces.iter();
            let mut ends = client.chain(&association.server.interfaces);
            if let Some(&first) = ends.next() {
                ends.for_each(|&other| tied.join(first, other));
            }
        }
        for together in &self.interfaces {
            tied.join(together[0], together[1]);
        }
        let links: Vec<[usize; 2]> = (0..self.links.len())
            .map(|link| [2 * link, 2 * link + 1].map(|line| number(self.lines[line].from.node)))
            .collect();
        for (link, &[a, b]) in links.iter().enumerate() {
            let delay_s = self
                .least_delay_s(2 * link)
                .min(self.least_delay_s(2 * link + 1));
            let medium = self.lines[2 * link].station.is_some();
            if medium || delay_s < LEAST_DELAY.as_secs_f64() {
                tied.join(a, b);
            }
        }
        // A medium's stations hear each other, whatever links they are at.
        let mut first_on_medium = vec![None; self.media.iter().len()];
        for (line, &[a, _]) in (0..).zip(&links) {
            if let Some(station) = self.lines[2 * line].station {
                let first = *first_on_medium[station.medium as usize].get_or_insert(a);
                tied.join(first, a);
            }
        }
        let mut with_hosts = tied.clone();
        for &[a, b] in &links {
            if (a < hosts) != (b < hosts) {
                with_hosts.join(a, b);
            }
        }
        let pieces = match with_hosts.count() >= threads {
            true => with_hosts,
            false => tied,
        };
        let mut load = vec![0.0; nodes];
        for (link, &[a, b]) in links.iter().enumerate() {
            for (line, node) in [(2 * link, a), (2 * link + 1, b)] {
                // A program takes longer than a host.
                let share = if node < hosts { 0.5 } else { 1.0 };
                load[node] += share * self.lines[line].rate.as_bps() as f64;
            }
        }
        let part = pieces.cut(&links, &load, threads);
        let parts = part.iter().max().map_or(1, |last| *last as usize + 1);
        Places {
            hosts: part[..hosts].to_vec(),
            switches: part[hosts..hosts + switches].to_vec(),
            routers: part[hosts + switches..].to_vec(),
            parts,
        }
    }

    fn split(&mut self, places: &Places) {
        let count = places.parts;
        let line_parts: Vec<u32> = self
            .lines
            .iter()
            .map(|line| places.of(line.from.node))
            .collect();
        let flows = self.flows.iter();
        let end_hosts = flows.flat_map(|flow| [flow.from, flow.to]);
        let end_parts: Vec<u32> = end_hosts.map(|host| places.hosts[host]).collect();
        let medium_parts = self.medium_parts(&line_parts);
        let association_parts: Vec<u32> = self
            .associations
            .iter()
            .map(|association| places.hosts[association.client.interfaces[0]])
            .collect();
        let owners = Arc::new(Owners {
            destinations: self
                .destinations
                .iter()
                .map(|to| places.of(to.node))
                .collect(),
            senders: end_parts.iter().step_by(2).copied().collect(),
        });
        let by = |parts: &[u32], index: usize| parts[index] as usize;
        for line in 0..self.destinations.len() {
            self.await_line(line);
        }
        let (events, taken) = self.events.take_all();
        let mut hosts = self
            .hosts
            .split(count, |i| by(&places.hosts, i))
            .into_iter();
        let mut switches = self
            .switches
            .split(count, |i| by(&places.switches, i))
            .into_iter();
        let mut routers = self
            .routers
            .split(count, |i| by(&places.routers, i))
            .into_iter();
        let mut lines = self.lines.split(count, |i| by(&line_parts, i)).into_iter();
        let mut records = self
            .line_records
            .split(count, |i| by(&line_parts, i))
            .into_iter();
        let mut media = self
            .media
            .split(count, |i| by(&medium_parts, i))
            .into_iter();
        let mut ends = self.ends.split(count, |i| by(&end_parts, i)).into_iter();
        let mut associations = self
            .associations
            .split(count, |i| by(&association_parts, i))
            .into_iter();
        let sources = &self.sources;
        let source_part = |i: usize| places.hosts[sources[i].host] as usize;
        let mut departures = self.departures.split(count, source_part).into_iter();
        let traffic = self.traffic.len();
        let mut endings = self.ending.as_mut().map(|ending| ending.split(count));
        for index in 0..count {
            // What was counted so far stays with the first.
            let first = index == 0;
            self.parts.push(Simulation {
                name: String::new(),
                seed: self.seed,
                now: self.now,
                turn: self.turn,
                end: self.end,
                events: EventQueue::default(),
                in_flight: Default::default(),
                buffers: Vec::new(),
                made: 0,
                hosts: hosts.next().unwrap_or_default(),
                switches: switches.next().unwrap_or_default(),
                routers: routers.next().unwrap_or_default(),
                lines: lines.next().unwrap_or_default(),
                destinations: self.destinations.clone(),
                media: media.next().unwrap_or_default(),
                links: self.links.clone(),
                flows: self.flows.clone(),
                ends: ends.next().unwrap_or_default(),
                ports: self.ports.clone(),
                ending: endings.as_mut().and_then(Iterator::next),
                associations: associations.next().unwrap_or_default(),
                interfaces: Vec::new(),
                sctp_buffer: Vec::new(),
                sources: self.sources.clone(),
                departures: departures.next().unwrap_or_default(),
                bins: self.bins.clone(),
                sampler: None,
                line_records: records.next().unwrap_or_default(),
                traffic: match first {
                    true => std::mem::take(&mut self.traffic),
                    false => vec![Default::default(); traffic],
                },
                capture: None,
                capture_failed: None,
                check_aqt: self.check_aqt.as_mut().map(|check| taken_if(first, check)),
                check_ci: self.check_ci.as_mut().map(|check| taken_if(first, check)),
                observer: None,
                totals: taken_if(first, &mut self.totals),
                own_controls: false,
                part: Some(Part::new(index, count, owners.clone())),
                parts: Vec::new(),
                turns: 0,
                lookahead_s: 0.0,
            });
        }
        self.lookahead_s = self.least_time_s();
        self.parts[0].buffers = std::mem::take(&mut self.buffers);
        self.parts[0].made = self.made;
        self.turns = taken;
        for (turn, mut event) in events {
            let [part, also] = match event {
                Event::LinkChange { link, .. } => {
                    let [ab, ba] = [0, 1].map(|side| line_parts[2 * link as usize + side]);
                    [ab, ba]
                }
                Event::Arrive { line, .. } => [owners.destinations[line as usize]; 2],
                Event::LineFree(line) => [line_parts[line as usize]; 2],
                Event::MediumBegin(id) | Event::MediumEnd(id) => {
                    [medium_parts[id.medium as usize]; 2]
                }
                Event::FlowStart(flow) | Event::FlowStop(flow) => [end_parts[2 * flow as usize]; 2],
                Event::Timer { flow, receiver } => {
                    [end_parts[2 * flow as usize + usize::from(receiver)]; 2]
                }
                Event::AssociationStart(index)
                | Event::AssociationStop(index)
                | Event::AssociationTimer {
                    association: index, ..
                }
                | Event::PrimaryChange {
                    association: index, ..
                } => [association_parts[index as usize]; 2],
                Event::Snoop(switch) => [places.switches[switch as usize]; 2],
                Event::Source(source) => [source_part(source as usize) as u32; 2],
            };
            let to = &mut self.parts[part as usize];
            if let Event::Arrive { packet, .. } = &mut event {
                *packet = to.in_flight.put(self.in_flight.take(*packet));
            }
            to.events.put(turn, event);
            if also != part {
                self.parts[also as usize].events.put(turn, event);
            }
        }
        // Packets that stations have wait in their media.
        for part in &mut self.parts {
            let Simulation {
                media, in_flight, ..
            } = part;
            for medium in media.iter_mut() {
                medium.renumber(|packet| in_flight.put(self.in_flight.take(packet)));
            }
        }
        self.in_flight = Default::default();
    }

    /// The part of each medium's stations.
    fn medium_parts(&self, line_parts: &[u32]) -> Vec<u32> {
        let mut parts = vec![0; self.media.iter().len()];
        for (line, part) in self.lines.iter().zip(line_parts) {
            if let Some(station) = line.station {
                parts[station.medium as usize] = *part;
            }
        }
        parts
    }

    /// Puts the parts of a divided network together again.
    pub(crate) fn unite(&mut self) {
        if self.parts.is_empty() {
            return;
        }
        let mut parts = std::mem::take(&mut self.parts);
        self.events = EventQueue::resumed(self.turns);
        self.totals = Default::default();
        self.made = 0;
        let traffic = self.flows.len() + self.sources.len();
        let associations: usize = parts
            .iter()
            .map(|part| part.associations.iter().len())
            .sum();
        self.traffic = vec![Default::default(); traffic + associations];
        for part in &mut parts {
            self.now = self.now.max(part.now);
            self.bins.advance(part.now);
            self.totals.add(&part.totals);
            self.made += part.made;
            self.buffers.append(&mut part.buffers);
            if let (Some(sum), Some(more)) = (&mut self.ending, part.ending.take()) {
                sum.unite(more);
            }
            for (sum, more) in self
                .traffic
                .iter_mut()
                .zip(std::mem::take(&mut part.traffic))
            {
                sum.add(more);
            }
            for (sum, more) in [
                (&mut self.check_aqt, &mut part.check_aqt),
                (&mut self.check_ci, &mut part.check_ci),
            ] {
                if let (Some(sum), Some(more)) = (sum, more.take()) {
                    sum.add(more);
                }
            }
            let (events, _) = part.events.take_all();
            for (turn, mut event) in events {
                match &mut event {
                    Event::Arrive { packet, .. } => {
                        *packet = self.in_flight.put(part.in_flight.take(*packet));
                    }
                    Event::LinkChange { link, .. } if !part.lines.has(2 * *link as usize) => {
                        continue;
                    }
                    _ => {}
                }
                self.events.put(turn, event);
            }
            for medium in part.media.iter_mut() {
                medium.renumber(|packet| self.in_flight.put(part.in_flight.take(packet)));
            }
        }
        self.hosts = united(&mut parts, |part| &mut part.hosts);
        self.switches = united(&mut parts, |part| &mut part.switches);
        self.routers = united(&mut parts, |part| &mut part.routers);
        self.lines = united(&mut parts, |part| &mut part.lines);
        self.line_records = united(&mut parts, |part| &mut part.line_records);
        self.media = united(&mut parts, |part| &mut part.media);
        self.ends = united(&mut parts, |part| &mut part.ends);
        self.associations = united(&mut parts, |part| &mut part.associations);
        self.departures = united(&mut parts, |part| &mut part.departures);
    }
}

fn taken_if<T: Default>(taken: bool, from: &mut T) -> T {
    match taken {
        true => std::mem::take(from),
        false => T::default(),
    }
}

fn united<T>(parts: &mut [Simulation], of: impl Fn(&mut Simulation) -> &mut Share<T>) -> Share<T> {
    Share::unite(
        parts
            .iter_mut()
            .map(|part| std::mem::take(of(part)))
            .collect(),
    )
}

/// Nodes that stay together.
#[derive(Clone, Debug)]
struct Pieces {
    /// Another node of the same piece, up to the one that stands for it.
    above: Vec<usize>,
}

impl Pieces {
    /// Each node by itself.
    fn new(nodes: usize) -> Self {
        Pieces {
            above: (0..nodes).collect(),
        }
    }

    /// The node that stands for a node's piece.
    fn of(&self, mut node: usize) -> usize {
        while self.above[node] != node {
            node = self.above[node];
        }
        node
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.of(a), self.of(b));
        self.above[a.max(b)] = a.min(b);
    }

    fn count(&self) -> usize {
        let nodes = self.above.iter().enumerate();
        nodes.filter(|(node, above)| node == *above).count()
    }

    /// The part of each node: up to `parts` of about the same load, each of pieces that are near each other.
    fn cut(&self, links: &[[usize; 2]], load: &[f64], parts: usize) -> Vec<u32> {
        let piece: Vec<usize> = (0..load.len()).map(|node| self.of(node)).collect();
        let mut neighbours = vec![Vec::new(); load.len()];
        for &[a, b] in links {
            neighbours[piece[a]].push(piece[b]);
            neighbours[piece[b]].push(piece[a]);
        }
        let mut loads = vec![0.0; load.len()];
        for (node, load) in load.iter().enumerate() {
            loads[piece[node]] += load;
        }
        let total: f64 = loads.iter().sum();
        let left = self.count();
        let mut seen = vec![false; load.len()];
        let mut part = vec![0; load.len()];
        let (mut before, mut present, mut pieces) = (0.0, 0, 0);
        for &start in &piece {
            let mut queue = VecDeque::from([start]);
            while let Some(next) = queue.pop_front() {
                if std::mem::replace(&mut seen[next], true) {
                    continue;
                }
                // Its middle decides, and each part has at least one.
                let middle = before + loads[next] / 2.0;
                let due = (middle / total * parts as f64) as usize;
                let latest = parts.saturating_sub(left - pieces);
                if pieces > 0 && (due > present || latest > present) && present + 1 < parts {
                    present += 1;
                }
                part[next] = present;
                before += loads[next];
                pieces += 1;
                queue.extend(&neighbours[next]);
            }
        }
        piece.into_iter().map(|piece| part[piece] as u32).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_cut_into_parts_of_the_same_load() {
        let links = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]];
        let pieces = Pieces::new(6);
        assert_eq!(pieces.cut(&links, &[1.0; 6], 2), [0, 0, 0, 1, 1, 1]);
        assert_eq!(pieces.cut(&links, &[1.0; 6], 3), [0, 0, 1, 1, 2, 2]);
        let uneven = [5.0, 1.0, 1.0, 1.0, 1.0, 1.0];
        assert_eq!(pieces.cut(&links, &uneven, 2), [0, 1, 1, 1, 1, 1]);
    }

    #[test]
    fn what_is_joined_stays_together() {
        let mut pieces = Pieces::new(4);
        pieces.join(3, 0);
        assert_eq!(pieces.count(), 3);
        let part = pieces.cut(&[[0, 1], [1, 2], [2, 3]], &[1.0; 4], 4);
        assert_eq!(part[0], part[3]);
        assert_eq!(part.iter().max(), Some(&2));
    }
}
