//! Nodes, ports and links.

use super::unknown;
use crate::scenario::{HostClock, Link, LinkChange, Scenario};
use engine::MAX_QUEUES;
use engine::ports::MAX_PORT;
use std::collections::{BTreeMap, BTreeSet};
use tcp_settings::check::{Checked, fail, not_negative};

/// Timestamps are 32-bit numbers of microseconds. Differences of up to 35 minutes can be
/// represented.
const MAX_OFFSET_S: f64 = 1000.0;
/// The clock deviates by a tenth.
const MAX_SKEW_PPM: f64 = 1e5;

impl Scenario {
    pub(super) fn check_nodes(&self) -> Checked {
        let mut addresses = BTreeMap::new();
        for (name, host) in &self.hosts {
            if let Some(other) = addresses.insert(host.ipv4, name) {
                return fail(
                    format!("hosts.{name}.ipv4"),
                    format!("{} is the address of {other}", host.ipv4),
                );
            }
            for (i, interface) in host.interfaces.iter().enumerate() {
                if let Some(other) = addresses.insert(interface.ipv4, name) {
                    let message = format!("{} is the address of {other}", interface.ipv4);
                    return fail(format!("hosts.{name}.interfaces[{i}].ipv4"), message);
                }
            }
            let path = format!("hosts.{name}.clock");
            let HostClock { offset_s, skew_ppm } = host.clock;
            if !(-MAX_OFFSET_S..=MAX_OFFSET_S).contains(&offset_s) {
                let message = format!("{offset_s} s is not within ± {MAX_OFFSET_S} s");
                return fail(format!("{path}.offset_s"), message);
            }
            if !(-MAX_SKEW_PPM..=MAX_SKEW_PPM).contains(&skew_ppm) {
                let message = format!("{skew_ppm} is not within ± {MAX_SKEW_PPM}");
                return fail(format!("{path}.skew_ppm"), message);
            }
        }
        for (name, switch) in &self.switches {
            let path = format!("switches.{name}");
            if self.hosts.contains_key(name) {
                return fail(path, "a host has this name");
            }
            if switch.capacity == Some(0) {
                return fail(format!("{path}.capacity"), "must be at least 1 packet");
            }
            if let Some((port, _)) = switch
                .port_capacity
                .iter()
                .find(|(_, packets)| **packets == 0)
            {
                let path = format!("{path}.port_capacity.{port}");
                return fail(path, "must be at least 1 packet");
            }
            for (port, weights) in &switch.port_weights {
                if weights.len() > usize::from(MAX_QUEUES) || weights.iter().all(|&w| w == 0) {
                    let path = format!("{path}.port_weights.{port}");
                    let message = format!("must be at most {MAX_QUEUES} weights, not all 0");
                    return fail(path, message);
                }
            }
        }
        Ok(())
    }

    pub(super) fn check_media(&self) -> Checked {
        for (name, medium) in &self.media {
            not_negative(format!("media.{name}.slot_s"), medium.slot_s)?;
            if medium.slots == 0 {
                return fail(format!("media.{name}.slots"), "must be at least 1");
            }
        }
        Ok(())
    }

    pub(super) fn check_links(&self) -> Checked {
        let mut names = BTreeSet::new();
        let mut ports = BTreeMap::new();
        for (i, link) in self.links.iter().enumerate() {
            let path = format!("links[{i}]");
            if !names.insert(link.name()) {
                return fail(
                    path,
                    format!("another link is named {:?}; give it a name", link.name()),
                );
            }
            for (side, end) in [("a", &link.a), ("b", &link.b)] {
                let path = format!("{path}.{side}");
                if let Some(host) = self.hosts.get(&end.node) {
                    let last = host.interfaces.len();
                    if usize::from(end.port) > last {
                        let message = match last {
                            0 => "a host has port 0 only".to_string(),
                            _ => format!("{} has ports 0 to {last}", end.node),
                        };
                        return fail(format!("{path}.port"), message);
                    }
                } else if !self.switches.contains_key(&end.node)
                    && !self.routers.contains_key(&end.node)
                {
                    let nodes = self.hosts.keys().chain(self.switches.keys());
                    return unknown(format!("{path}.node"), "node", &end.node, nodes);
                } else if end.port > MAX_PORT {
                    let message = format!("{} is not a port; ports are 0 to {MAX_PORT}", end.port);
                    return fail(format!("{path}.port"), message);
                }
                if let Some(other) = ports.insert((&end.node, end.port), link.name()) {
                    let message = format!("port {} of {} is on {other}", end.port, end.node);
                    return fail(path, message);
                }
            }
            check_link(&path, link)?;
            if let Some(name) = &link.medium
                && !self.media.contains_key(name)
            {
                return unknown(format!("{path}.medium"), "medium", name, self.media.keys());
            }
        }
        for (name, switch) in &self.switches {
            for (i, port) in switch.snoop.iter().enumerate() {
                if !ports.contains_key(&(name, *port)) {
                    let message = format!("no link at port {port} of {name}");
                    return fail(format!("switches.{name}.snoop[{i}]"), message);
                }
            }
        }
        Ok(())
    }
}

fn check_link(path: &str, link: &Link) -> Checked {
    let sides = [("", None), (".ab", Some(&link.ab)), (".ba", Some(&link.ba))];
    for (side, given) in sides {
        let at = |field: &str| format!("{path}{side}.{field}");
        let rate = given.map_or(Some(link.rate_bps), |s| s.rate_bps);
        let delay = given.map_or(Some(link.delay_s), |s| s.delay_s);
        let queue = given.map_or(Some(link.queue), |s| s.queue);
        let loss = given.map_or(Some(link.loss), |s| s.loss);
        check_line(&at, rate, delay, loss)?;
        if queue == Some(0) {
            return fail(
                at("queue"),
                "must be at least 1 packet (the one in service)",
            );
        }
    }
    for (i, change) in link.changes.iter().enumerate() {
        let at = |field: &str| format!("{path}.changes[{i}].{field}");
        let LinkChange {
            at_s,
            rate_bps,
            delay_s,
            loss,
            ..
        } = *change;
        not_negative(at("at_s"), at_s)?;
        check_line(&at, rate_bps, delay_s, loss)?;
    }
    Ok(())
}

fn check_line(
    at: &dyn Fn(&str) -> String,
    rate: Option<u64>,
    delay: Option<f64>,
    loss: Option<f64>,
) -> Checked {
    if rate == Some(0) {
        return fail(at("rate_bps"), "must be at least 1 b/s");
    }
    if let Some(delay) = delay {
        not_negative(at("delay_s"), delay)?;
    }
    match loss {
        Some(loss) if !(0.0..=1.0).contains(&loss) => fail(
            at("loss"),
            format!("{loss} is not a probability; expected 0 to 1"),
        ),
        _ => Ok(()),
    }
}
