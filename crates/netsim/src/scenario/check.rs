//! What a scenario must satisfy beyond its form: names resolve, numbers are in range.

use super::{ControlName, Flow, Link, LinkChange, Scenario, ScenarioError, Source, SourceKind};
use std::collections::{BTreeMap, BTreeSet};

/// Ports above are the drop port (511) and what BMv2 reserves.
const MAX_PORT: u16 = 510;
/// Runs and delays above make nanoseconds overflow.
const MAX_SECONDS: f64 = 1e9;
/// Packets of a source stay at least a nanosecond apart.
const MAX_SOURCE_BPS: f64 = 1e11;
/// Headers that every packet has: IPv4 and UDP, or IPv4 and TCP with room for options.
const MIN_PACKET: u32 = 40;
const MAX_PACKET: u32 = 65_535;

type Checked = Result<(), ScenarioError>;

impl Scenario {
    /// Checks names and ranges.
    ///
    /// # Errors
    /// The first mistake, with its place and what is valid.
    pub fn check(&self) -> Checked {
        positive("end_s", self.end_s)?;
        positive("sample_s", self.sample_s)?;
        if self.end_s / self.sample_s > 1e7 {
            return fail(
                "sample_s",
                format!("{} s makes more than ten million bins", self.sample_s),
            );
        }
        self.check_nodes()?;
        self.check_links()?;
        let mut names = BTreeSet::new();
        for (i, flow) in self.flows.iter().enumerate() {
            unique(&mut names, format!("flows[{i}].name"), flow.name(i))?;
            self.check_flow(&format!("flows[{i}]"), flow)?;
        }
        for (i, source) in self.sources.iter().enumerate() {
            unique(&mut names, format!("sources[{i}].name"), source.name(i))?;
            self.check_source(&format!("sources[{i}]"), source)?;
        }
        self.check_record()
    }

    fn check_nodes(&self) -> Checked {
        let mut addresses = BTreeMap::new();
        for (name, host) in &self.hosts {
            if let Some(other) = addresses.insert(host.ipv4, name) {
                return fail(
                    format!("hosts.{name}.ipv4"),
                    format!("{} is the address of {other}", host.ipv4),
                );
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
        }
        Ok(())
    }

    fn check_links(&self) -> Checked {
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
                if self.hosts.contains_key(&end.node) {
                    if end.port != 0 {
                        return fail(format!("{path}.port"), "a host has port 0 only");
                    }
                } else if !self.switches.contains_key(&end.node) {
                    let nodes = self.hosts.keys().chain(self.switches.keys());
                    return unknown(format!("{path}.node"), "node", &end.node, nodes);
                } else if end.port > MAX_PORT {
                    let message = format!("{} is no port; ports are 0 to {MAX_PORT}", end.port);
                    return fail(format!("{path}.port"), message);
                }
                if let Some(other) = ports.insert((&end.node, end.port), link.name()) {
                    let message = format!("port {} of {} is on {other}", end.port, end.node);
                    return fail(path, message);
                }
            }
            check_link(&path, link)?;
        }
        Ok(())
    }

    fn check_flow(&self, path: &str, flow: &Flow) -> Checked {
        self.check_pair(path, &flow.from, &flow.to)?;
        check_times(path, flow.start_s, flow.stop_s)?;
        let c = &flow.control;
        for (name, value) in [("alpha", c.alpha), ("beta", c.beta), ("gamma", c.gamma)] {
            if let Some(value) = value {
                not_negative(format!("{path}.control.{name}"), value)?;
            }
        }
        if c.name == ControlName::RoVegas && flow.aqt == Some(false) {
            return fail(format!("{path}.aqt"), "RoVegas needs the AQT option");
        }
        if flow.segments == Some(0) {
            return fail(format!("{path}.segments"), "must be at least 1 packet");
        }
        let path = format!("{path}.profile");
        let p = &flow.profile;
        positive(format!("{path}.tick_s"), p.tick_s)?;
        positive(format!("{path}.initial_rto_s"), p.initial_rto_s)?;
        not_negative(format!("{path}.min_rto_s"), p.min_rto_s)?;
        if !(0.0..p.tick_s).contains(&p.phase_s) {
            return fail(format!("{path}.phase_s"), "must be within [0, tick_s)");
        }
        between(format!("{path}.window"), p.window, 1, 1 << 24)?;
        between(format!("{path}.initial_window"), p.initial_window, 1, 2)?;
        packet(format!("{path}.packet_octets"), p.packet_octets)?;
        packet(format!("{path}.ack_octets"), p.ack_octets)
    }

    fn check_source(&self, path: &str, source: &Source) -> Checked {
        self.check_pair(path, &source.from, &source.to)?;
        check_times(path, source.start_s, source.stop_s)?;
        if !(source.rate_bps > 0.0 && source.rate_bps <= MAX_SOURCE_BPS) {
            let message = format!("{} is not within 0 to {MAX_SOURCE_BPS}", source.rate_bps);
            return fail(format!("{path}.rate_bps"), message);
        }
        packet(format!("{path}.packet_octets"), source.packet_octets)?;
        let given = [
            ("mean_on_s", source.mean_on_s),
            ("mean_off_s", source.mean_off_s),
            ("mean_rate_bps", source.mean_rate_bps),
            ("shape", source.shape),
        ];
        for (name, _) in given.iter().filter(|(_, value)| value.is_some()) {
            let fits = match source.kind {
                SourceKind::Cbr => false,
                SourceKind::Exponential => *name != "shape",
                SourceKind::Pareto => true,
            };
            if !fits {
                let message = format!("a source of kind {:?} has none", source.kind);
                return fail(format!("{path}.{name}"), message.to_lowercase());
            }
        }
        if source.kind == SourceKind::Cbr {
            return Ok(());
        }
        match source.mean_on_s {
            Some(on) => positive(format!("{path}.mean_on_s"), on)?,
            None => return fail(format!("{path}.mean_on_s"), "is missing"),
        }
        match (source.mean_off_s, source.mean_rate_bps) {
            (Some(off), None) => not_negative(format!("{path}.mean_off_s"), off)?,
            (None, Some(rate)) => {
                if !(rate > 0.0 && rate <= source.rate_bps) {
                    let message = format!("must be above 0 and at most {}", source.rate_bps);
                    return fail(format!("{path}.mean_rate_bps"), message);
                }
            }
            _ => {
                let message = "expected one of mean_off_s and mean_rate_bps";
                return fail(format!("{path}.mean_off_s"), message);
            }
        }
        match (source.kind, source.shape) {
            (SourceKind::Pareto, Some(shape)) if shape > 1.0 && shape.is_finite() => Ok(()),
            (SourceKind::Pareto, _) => fail(format!("{path}.shape"), "must be a number above 1"),
            _ => Ok(()),
        }
    }

    fn check_pair(&self, path: &str, from: &str, to: &str) -> Checked {
        for (field, name) in [("from", from), ("to", to)] {
            let path = format!("{path}.{field}");
            if !self.hosts.contains_key(name) {
                return unknown(path, "host", name, self.hosts.keys());
            }
            let linked = |l: &Link| l.a.node == name || l.b.node == name;
            if !self.links.iter().any(linked) {
                return fail(path, format!("no link reaches host {name:?}"));
            }
        }
        if from == to {
            return fail(format!("{path}.to"), format!("{to:?} is the sender itself"));
        }
        Ok(())
    }

    fn check_record(&self) -> Checked {
        for (i, name) in self.record.pcap.iter().enumerate() {
            let links: Vec<String> = self.links.iter().map(Link::name).collect();
            if !links.contains(name) {
                return unknown(format!("record.pcap[{i}]"), "link", name, links.iter());
            }
        }
        let ci = self.record.check_ci.as_ref();
        let lists = [
            ("aqt_switches", self.record.aqt_switches.as_ref()),
            ("check_ci.switches", ci.and_then(|c| c.switches.as_ref())),
        ];
        for (field, list) in lists {
            for (i, name) in list.into_iter().flatten().enumerate() {
                if !self.switches.contains_key(name) {
                    let path = format!("record.{field}[{i}]");
                    return unknown(path, "switch", name, self.switches.keys());
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
            format!("{loss} is no probability; expected 0 to 1"),
        ),
        _ => Ok(()),
    }
}

fn check_times(path: &str, start_s: f64, stop_s: Option<f64>) -> Checked {
    not_negative(format!("{path}.start_s"), start_s)?;
    match stop_s {
        Some(stop) if !(stop >= start_s && stop <= MAX_SECONDS) => fail(
            format!("{path}.stop_s"),
            format!("{stop} s is not after start_s, {start_s} s"),
        ),
        _ => Ok(()),
    }
}

fn positive(path: impl Into<String>, seconds: f64) -> Checked {
    if seconds > 0.0 {
        return not_negative(path, seconds);
    }
    fail(path, format!("{seconds} is not above 0"))
}

fn not_negative(path: impl Into<String>, value: f64) -> Checked {
    if (0.0..=MAX_SECONDS).contains(&value) {
        return Ok(());
    }
    fail(path, format!("{value} is not within 0 to {MAX_SECONDS}"))
}

fn between(path: impl Into<String>, value: u32, low: u32, high: u32) -> Checked {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    fail(path, format!("{value} is not within {low} to {high}"))
}

fn packet(path: impl Into<String>, octets: u32) -> Checked {
    between(path, octets, MIN_PACKET, MAX_PACKET)
}

fn unique(names: &mut BTreeSet<String>, path: String, name: String) -> Checked {
    if names.contains(&name) {
        return fail(path, format!("another flow or source is named {name:?}"));
    }
    names.insert(name);
    Ok(())
}

fn unknown<'a>(
    path: String,
    what: &str,
    name: &str,
    valid: impl Iterator<Item = &'a String>,
) -> Checked {
    let valid: Vec<&str> = valid.map(String::as_str).collect();
    let plural = if what == "switch" { "es" } else { "s" };
    let message = match valid.is_empty() {
        true => format!("no {what} {name:?}; there are none"),
        false => format!(
            "no {what} {name:?}; {what}{plural} are {}",
            valid.join(", ")
        ),
    };
    fail(path, message)
}

fn fail(path: impl Into<String>, message: impl Into<String>) -> Checked {
    Err(ScenarioError::new(path, message))
}

#[cfg(test)]
mod tests {
    use crate::scenario::Scenario;
    use serde_json::{Value, json};

    fn good() -> Value {
        json!({
            "name": "two hosts", "seed": 1, "end_s": 10,
            "hosts": {
                "S1": {"ipv4": "10.0.0.1", "mac": "02:00:00:00:00:01", "gateway_mac": "02:00:00:00:00:02"},
                "D1": {"ipv4": "10.0.0.2", "mac": "02:00:00:00:00:02", "gateway_mac": "02:00:00:00:00:01"},
            },
            "switches": {"R1": {"program": "aqt"}},
            "links": [
                {"a": {"node": "S1"}, "b": {"node": "R1", "port": 1}, "rate_bps": 1000000, "delay_s": 0.01},
                {"a": {"node": "R1", "port": 2}, "b": {"node": "D1"}, "rate_bps": 1000000, "delay_s": 0.01},
            ],
            "flows": [{"from": "S1", "to": "D1", "control": {"name": "vegas"}}],
            "sources": [{"from": "S1", "to": "D1", "kind": "exponential", "rate_bps": 1e6,
                         "mean_on_s": 0.5, "mean_off_s": 0.5}],
        })
    }

    /// What a change of the good scenario is told: the pointer is RFC 6901's.
    fn told(pointer: &str, value: Value) -> String {
        let mut data = good();
        let (parent, field) = pointer.rsplit_once('/').unwrap();
        let parent = data.pointer_mut(parent).unwrap();
        match parent {
            Value::Array(list) => list[field.parse::<usize>().unwrap()] = value,
            _ => parent[field] = value,
        }
        match Scenario::from_json(&data.to_string()) {
            Ok(_) => "accepted".to_string(),
            Err(e) => e.to_string(),
        }
    }

    #[test]
    fn a_good_scenario_is_accepted_and_written_back() {
        let scenario = Scenario::from_json(&good().to_string()).unwrap();
        let text = serde_json::to_string(&scenario).unwrap();
        assert!(Scenario::from_json(&text).is_ok(), "{text}");
    }

    #[test]
    fn mistakes_are_told_with_their_place_and_what_is_valid() {
        let cases = [
            (
                "/flows/0/from",
                json!("S9"),
                "flows[0].from: no host \"S9\"; hosts are D1, S1",
            ),
            (
                "/links/1/a/node",
                json!("R2"),
                "links[1].a.node: no node \"R2\"; nodes are D1, S1, R1",
            ),
            (
                "/links/1/a/port",
                json!(1),
                "links[1].a: port 1 of R1 is on S1-R1",
            ),
            (
                "/links/0/loss",
                json!(1.5),
                "links[0].loss: 1.5 is no probability; expected 0 to 1",
            ),
            (
                "/links/0/ab",
                json!({"rate_bps": 0}),
                "links[0].ab.rate_bps: must be at least 1 b/s",
            ),
            (
                "/sources/0/shape",
                json!(1.5),
                "sources[0].shape: a source of kind exponential has none",
            ),
            (
                "/sources/0/mean_rate_bps",
                json!(1.5),
                "sources[0].mean_off_s: expected one of mean_off_s and mean_rate_bps",
            ),
            (
                "/hosts/S1/ipv4",
                json!("10.0.0.2"),
                "hosts.S1.ipv4: 10.0.0.2 is the address of D1",
            ),
            (
                "/record",
                json!({"pcap": ["X"]}),
                "record.pcap[0]: no link \"X\"; links are S1-R1, R1-D1",
            ),
            ("/end_s", json!(-1), "end_s: -1 is not above 0"),
        ];
        for (pointer, value, message) in cases {
            assert_eq!(told(pointer, value), message, "{pointer}");
        }
    }

    #[test]
    fn mistakes_of_form_are_told_with_their_place() {
        let cases = [
            (
                "/flows/0/control/name",
                json!("vega"),
                "flows[0].control.name: ",
            ),
            (
                "/flows/0/contrl",
                json!({}),
                "flows[0].contrl: unknown field",
            ),
            (
                "/links/0/rate_bps",
                json!("x"),
                "links[0].rate_bps: invalid type",
            ),
            (
                "/hosts/S1/mac",
                json!("2:1"),
                "hosts.S1.mac: \"2:1\" is no Ethernet",
            ),
            (
                "/switches/R1/entries",
                json!([{"table": "t", "action": "a", "match": {"k": true}}]),
                "switches.R1.entries[0].match.k: ",
            ),
        ];
        for (pointer, value, start) in cases {
            let message = told(pointer, value);
            assert!(message.starts_with(start), "{pointer}: {message}");
        }
    }
}
