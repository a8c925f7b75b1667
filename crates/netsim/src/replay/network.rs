//! From a description to a scenario of hosts and routers.

use super::Replay;
use super::description::LinkSpan;
use crate::scenario::{
    End, Host, HostClock, Ipv4, Link, LinkSide, Mac, Record, Router, Scenario, ScenarioError,
};
use indexmap::{IndexMap, IndexSet};
use std::collections::{BTreeMap, VecDeque};

/// The address of the first host. Further hosts have the following addresses.
const FIRST_ADDRESS: u32 = 0x0a00_0001;

impl Replay {
    /// Creates the network and its flows. The ends of flows are hosts; all other nodes are routers.
    pub(super) fn network(&self) -> Result<Scenario, ScenarioError> {
        let ends = self.flows.iter().flat_map(|flow| [&flow.from, &flow.to]);
        let hosts: IndexSet<&str> = ends.map(String::as_str).collect();
        for (index, flow) in self.flows.iter().enumerate() {
            let path = format!("flows[{index}]");
            for (from, to) in [(&flow.from, &flow.to), (&flow.to, &flow.from)] {
                if self.first_line(from, to).is_none() {
                    let message = format!("no path from {from} to {to}");
                    return Err(ScenarioError::new(path, message));
                }
            }
            for host in [&flow.from, &flow.to] {
                let links = self.links.iter().filter(|link| link.between.contains(host));
                let links = links.count();
                if links > 1 {
                    let message = format!("{host} has {links} links; the end of a flow has one");
                    return Err(ScenarioError::new(path, message));
                }
            }
        }
        let mut links = Vec::new();
        // The lines from each router, in the order of its ports.
        let mut lines: IndexMap<&str, Vec<usize>> = IndexMap::new();
        for (index, link) in self.links.iter().enumerate() {
            let mut end = |side: usize| {
                let node = &link.between[side];
                let mut port = 0;
                if !hosts.contains(node.as_str()) {
                    let lines = lines.entry(node).or_default();
                    port = lines.len() as u16;
                    lines.push(2 * index + side);
                }
                End {
                    node: node.clone(),
                    port,
                }
            };
            links.push(link.described(index, [end(0), end(1)]));
        }
        let address = |host: usize| Ipv4((FIRST_ADDRESS + host as u32).to_be_bytes());
        let routers = lines.iter().map(|(name, lines)| {
            let routes = hosts.iter().enumerate().filter_map(|(host, to)| {
                let line = self.first_line(name, to)?;
                let port = lines.iter().position(|&out| out == line)?;
                Some((address(host), port as u16))
            });
            let routes = routes.collect();
            (name.to_string(), Router { routes })
        });
        let routers = routers.collect();
        let host = |(index, name): (usize, &&str)| (name.to_string(), host(address(index)));
        Ok(Scenario {
            name: "replay".into(),
            seed: 1,
            end_s: self.end_s,
            sample_s: self.end_s,
            hosts: hosts.iter().enumerate().map(host).collect(),
            switches: IndexMap::new(),
            routers,
            links,
            media: IndexMap::new(),
            flows: self.flows.clone(),
            associations: Vec::new(),
            sources: Vec::new(),
            record: Record::default(),
        })
    }

    /// The first line on the shortest path.
    fn first_line(&self, from: &str, to: &str) -> Option<usize> {
        let mut first = BTreeMap::from([(from, None)]);
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            for (index, link) in self.links.iter().enumerate() {
                let [a, b] = &link.between;
                for (line, here, there) in [(2 * index, a, b), (2 * index + 1, b, a)] {
                    if here == node && !first.contains_key(there.as_str()) {
                        first.insert(there, first[node].or(Some(line)));
                        queue.push_back(there);
                    }
                }
            }
        }
        first.remove(to).flatten()
    }
}

impl LinkSpan {
    fn described(&self, index: usize, [a, b]: [End; 2]) -> Link {
        Link {
            name: Some(format!("links[{index}]")),
            a,
            b,
            rate_bps: self.rate_bps,
            delay_s: self.delay_s,
            queue: self.limit,
            loss: 0.0,
            medium: None,
            ab: LinkSide::default(),
            ba: LinkSide {
                rate_bps: self.rate_back_bps,
                queue: self.limit_back,
                ..LinkSide::default()
            },
            changes: Vec::new(),
        }
    }
}

/// Its line leads to one neighbour only, so the destination of a frame does not matter.
fn host(ipv4: Ipv4) -> Host {
    let [a, b, c, d] = ipv4.0;
    let mac = Mac([2, 0, a, b, c, d]);
    Host {
        ipv4,
        mac,
        gateway_mac: mac,
        clock: HostClock::default(),
        interfaces: Vec::new(),
    }
}
