//! Assigns the items of a network to parts.
//!
//! Nodes that need each other's state immediately stay together: stations of a medium, the hosts of an SCTP
//! association, the interfaces of a host, the ends of a link without delay. So do a switch and its hosts, if there are
//! enough pieces. Pieces are arranged from neighbour to neighbour, and divided into parts of about equal load.

use super::Simulation;
use super::pieces::Pieces;
use crate::event::Event;
use crate::line::Node;
use units::Duration;

/// Links with less delay than this do not connect parts, because rounds would have no events.
const LEAST_DELAY: Duration = Duration::from_nanos(50);
/// How much rounding may reduce a delay, in seconds.
const ROUNDING_S: f64 = 2e-9;

/// The part of each item.
#[derive(Debug)]
pub(super) struct Places {
    pub parts: usize,
    /// The minimum time that anything takes from one part to another, in seconds.
    pub lookahead_s: f64,
    pub hosts: Vec<u32>,
    pub switches: Vec<u32>,
    pub routers: Vec<u32>,
    /// For each line, the part at its beginning.
    pub lines: Vec<u32>,
    /// For each line, the part at its end.
    pub destinations: Vec<u32>,
    pub media: Vec<u32>,
    /// For each end of a flow: the sender's, then the receiver's.
    pub ends: Vec<u32>,
    pub sources: Vec<u32>,
    pub associations: Vec<u32>,
}

impl Places {
    /// The part in which an event occurs, and another part in which it also occurs, or the same part twice.
    pub fn of_event(&self, event: &Event) -> [u32; 2] {
        let one = match *event {
            Event::LinkChange { link, .. } => {
                return [0, 1].map(|side| self.lines[2 * link as usize + side]);
            }
            Event::Arrive { line, .. } => self.destinations[line as usize],
            Event::LineFree(line) => self.lines[line as usize],
            Event::MediumBegin(id) | Event::MediumEnd(id) => self.media[id.medium as usize],
            Event::FlowStart(flow) | Event::FlowStop(flow) => self.ends[2 * flow as usize],
            Event::Timer { flow, receiver } => self.ends[2 * flow as usize + usize::from(receiver)],
            Event::AssociationStart(index)
            | Event::AssociationStop(index)
            | Event::AssociationTimer {
                association: index, ..
            }
            | Event::PrimaryChange {
                association: index, ..
            } => self.associations[index as usize],
            Event::Snoop(switch) => self.switches[switch as usize],
            Event::Source(source) => self.sources[source as usize],
        };
        [one; 2]
    }

    /// The part of a flow's sender.
    pub fn of_sender(&self, flow: usize) -> usize {
        self.ends[2 * flow] as usize
    }
}

impl Simulation {
    /// The assignment of items if the network, which must be undivided, is divided into up to `parts` parts.
    pub(super) fn places(&self, parts: usize) -> Places {
        let (hosts, switches) = (self.hosts.iter().len(), self.switches.iter().len());
        let part = self.parts_of_nodes(parts);
        let of = |node: Node| part[self.number(node)];
        let lines: Vec<u32> = self.lines.iter().map(|line| of(line.from.node)).collect();
        let destinations: Vec<u32> = self.destinations.iter().map(|to| of(to.node)).collect();
        let between = (0..lines.len()).filter(|&line| lines[line] != destinations[line]);
        let delays = between.map(|line| self.least_delay_s(line));
        let lookahead_s = delays.fold(f64::INFINITY, f64::min) * (1.0 - 1e-9) - ROUNDING_S;
        let mut media = vec![0; self.media.iter().len()];
        for (line, &part) in self.lines.iter().zip(&lines) {
            if let Some(station) = line.station {
                media[station.medium as usize] = part;
            }
        }
        let of_host = |host: usize| part[host];
        let ends = self.flows.iter().flat_map(|flow| [flow.from, flow.to]);
        let sources = self.sources.iter().map(|source| source.host);
        let associations = self.associations.iter();
        let associations = associations.map(|association| association.client.interfaces[0]);
        Places {
            parts: part.iter().max().map_or(1, |last| *last as usize + 1),
            lookahead_s,
            media,
            ends: ends.map(of_host).collect(),
            sources: sources.map(of_host).collect(),
            associations: associations.map(of_host).collect(),
            hosts: part[..hosts].to_vec(),
            switches: part[hosts..hosts + switches].to_vec(),
            routers: part[hosts + switches..].to_vec(),
            lines,
            destinations,
        }
    }

    /// The index of a node among hosts, switches and routers.
    fn number(&self, node: Node) -> usize {
        let (hosts, switches) = (self.hosts.iter().len(), self.switches.iter().len());
        match node {
            Node::Host(host) => host,
            Node::Switch(switch) => hosts + switch,
            Node::Router(router) => hosts + switches + router,
        }
    }

    /// The smallest delay that a line ever has, in seconds.
    fn least_delay_s(&self, line: usize) -> f64 {
        let now = self.lines[line].delay_s();
        // Changes of the other direction are included, which does no harm.
        let changes = self.links[line / 2].changes.iter();
        changes
            .filter_map(|change| change.delay_s)
            .fold(now, f64::min)
    }

    /// The part of each node, by index.
    fn parts_of_nodes(&self, parts: usize) -> Vec<u32> {
        let hosts = self.hosts.iter().len();
        let nodes = hosts + self.switches.iter().len() + self.routers.iter().len();
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
        let from = |line: usize| self.number(self.lines[line].from.node);
        let links: Vec<[usize; 2]> = (0..self.links.len())
            .map(|link| [from(2 * link), from(2 * link + 1)])
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
        // The stations of a medium hear each other, whatever links they are on.
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
        let pieces = match with_hosts.count() >= parts {
            true => with_hosts,
            false => tied,
        };
        let mut load = vec![0.0; nodes];
        for (link, &[a, b]) in links.iter().enumerate() {
            for (line, node) in [(2 * link, a), (2 * link + 1, b)] {
                // A program takes longer than a host.
                let share = if node < hosts { 0.5 } else { 1.0 };
                load[node] += share * self.lines[line].rate().as_bps() as f64;
            }
        }
        pieces.cut(&links, &load, parts)
    }
}
