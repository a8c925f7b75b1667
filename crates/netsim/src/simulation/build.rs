//! Builds the network at time zero from a scenario.

use super::ended::Ending;
use super::{Division, Simulation};
use crate::association::AssociationFlow;
use crate::event::{Event, EventQueue, Turn};
use crate::flow::{Flow, Opening, Side, Slot};
use crate::host::Host;
use crate::line::{Line, Node, Port};
use crate::medium::{Medium, StationId};
use crate::ports::Ports;
use crate::queue::DropTail;
use crate::random::{Purpose, Random};
use crate::record::{Bins, FlowRecord, LineRecord};
use crate::results::Totals;
use crate::router::RouterState;
use crate::sampler::Sampler;
use crate::scenario::{self, LinkSide, Scenario, ScenarioError};
use crate::snoop::Snoop;
use crate::source::{Departures, OpenLoop};
use crate::switch::SwitchState;
use crate::truth::{Comparison, Tag};
use congestion::Mark;
use engine::{MAX_QUEUES, Pipeline, PortConfig, Scheduling, Switch, SwitchConfig};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use transport::wire;
use units::{Duration, Instant, Rate};

/// Programs by the names that switches use.
pub type Programs = BTreeMap<String, Arc<Pipeline>>;

pub use tcp_settings::Controls;

/// The minimum capacity of a traffic manager in packets, unless the scenario sets it.
const MIN_CAPACITY: u32 = 1024;

impl Simulation {
    /// Creates the network of `scenario` at time zero.
    ///
    /// # Errors
    /// The scenario is invalid, names a program that does not exist, or has an entry that does not fit its program.
    pub fn new(scenario: &Scenario, programs: &Programs) -> Result<Self, ScenarioError> {
        Simulation::with_controls(scenario, programs, &Controls::new())
    }

    /// Like [`Simulation::new`], for flows with congestion controls of the caller.
    ///
    /// # Errors
    /// As for [`Simulation::new`], and if a congestion control does not exist.
    pub fn with_controls(
        scenario: &Scenario,
        programs: &Programs,
        controls: &Controls,
    ) -> Result<Self, ScenarioError> {
        scenario.check()?;
        let traffic = scenario.flows.len() + scenario.sources.len() + scenario.associations.len();
        if traffic > Tag::OWNERS {
            let message = format!(
                "{traffic} flows, associations and sources; expected {} at most",
                Tag::OWNERS
            );
            return Err(ScenarioError::new("flows", message));
        }
        let (numbers, ports) = ports(scenario)?;
        let end = Instant::from_secs_f64(scenario.end_s);
        let record = &scenario.record;
        let bins = Bins::new(Duration::from_secs_f64(scenario.sample_s), end)
            .with_whole_flows(record.flows_as_they_end);
        let (mut lines, destinations) = lines(scenario);
        let media = media(scenario, &mut lines);
        let mut hosts = interfaces(scenario);
        connect_hosts(&lines, &mut hosts);
        let switches = switches(scenario, programs, &lines)?;
        let every = record.sample_objects_s.map(Duration::from_secs_f64);
        let (flows, ends) = flows(scenario, controls, &hosts, &lines, &numbers)?;
        let (sources, departures) = sources(scenario, &hosts, &numbers[flows.len()..]);
        let (flow_count, source_count) = (flows.len(), sources.len());
        let mut simulation = Simulation {
            name: scenario.name.clone(),
            seed: scenario.seed,
            now: Instant::ZERO,
            turn: Turn::default(),
            end,
            events: EventQueue::default(),
            buffers: Vec::new(),
            made: 0,
            sampler: every.map(|every| Sampler::new(every, &switches)),
            switches: switches.into_iter().collect(),
            routers: routers(scenario, &lines).into_iter().collect(),
            links: scenario.links.as_slice().into(),
            flows: flows.into(),
            ends: ends.into_iter().collect(),
            associations: associations(scenario, &bins, &numbers[flow_count + source_count..])
                .into_iter()
                .collect(),
            ports: Arc::new(ports),
            ending: record.flows_as_they_end.then(|| Ending::new(scenario)),
            interfaces: further_interfaces(scenario),
            sctp_buffer: Vec::new(),
            sources: sources.into(),
            departures: departures.into_iter().collect(),
            line_records: lines.iter().map(|_| LineRecord::new(&bins)).collect(),
            lines: lines.into_iter().collect(),
            destinations: destinations.into(),
            media: media.into_iter().collect(),
            hosts: hosts.into_iter().collect(),
            traffic: vec![FlowRecord::default(); traffic],
            bins,
            capture: None,
            capture_failed: None,
            check_aqt: record.check_aqt.then(Comparison::default),
            check_ci: record.check_ci.as_ref().map(|_| Comparison::default()),
            observer: None,
            totals: Totals::default(),
            own_controls: !controls.is_empty(),
            part: None,
            parts: Vec::new(),
            turns: 0,
            plan: None,
            division: Division::whole(None),
        };
        simulation.schedule(scenario);
        Ok(simulation)
    }

    /// Schedules the events of the scenario.
    fn schedule(&mut self, scenario: &Scenario) {
        for (link, described) in scenario.links.iter().enumerate() {
            for (change, at) in described.changes.iter().enumerate() {
                let event = Event::LinkChange {
                    link: link as u32,
                    change: change as u32,
                };
                self.schedule_at(Instant::from_secs_f64(at.at_s), event);
            }
        }
        for (i, flow) in scenario.flows.iter().enumerate() {
            let start = Event::FlowStart(i as u32);
            self.schedule_at(Instant::from_secs_f64(flow.start_s), start);
            if let Some(stop_s) = flow.stop_s {
                self.schedule_at(Instant::from_secs_f64(stop_s), Event::FlowStop(i as u32));
            }
        }
        for (i, association) in scenario.associations.iter().enumerate() {
            let start = Event::AssociationStart(i as u32);
            self.schedule_at(Instant::from_secs_f64(association.start_s), start);
            if let Some(stop_s) = association.stop_s {
                let stop = Event::AssociationStop(i as u32);
                self.schedule_at(Instant::from_secs_f64(stop_s), stop);
            }
            for change in &association.primary {
                let event = Event::PrimaryChange {
                    association: i as u32,
                    path: change.path,
                };
                self.schedule_at(Instant::from_secs_f64(change.at_s), event);
            }
        }
        for (i, departures) in self.departures.iter_mut().enumerate() {
            if let Some(first) = departures.next() {
                self.events
                    .schedule(first.as_secs_f64(), Event::Source(i as u32));
            }
        }
    }
}

/// Both lines of each link, and their destinations.
fn lines(scenario: &Scenario) -> (Vec<Line>, Vec<Port>) {
    let mut lines: Vec<Line> = Vec::new();
    let mut destinations = Vec::new();
    let mut names = HashSet::new();
    for link in &scenario.links {
        let captured =
            scenario.record.pcap.is_empty() || scenario.record.pcap.contains(&link.name());
        for (from, to, side) in [(&link.a, &link.b, &link.ab), (&link.b, &link.a, &link.ba)] {
            let bps = side.rate_bps.unwrap_or(link.rate_bps);
            let rate = Rate::from_bps(bps).expect("a checked scenario has rates above 0");
            let name = line_name(&mut names, &from.node, &to.node);
            let random = Random::new(scenario.seed, Purpose::Loss, lines.len());
            let from = port(scenario, from);
            destinations.push(port(scenario, to));
            let mut line = Line::new(name, from, rate, random);
            line.set_delay(Duration::from_secs_f64(
                side.delay_s.unwrap_or(link.delay_s),
            ));
            line.set_loss(side.loss.unwrap_or(link.loss));
            line.queue = match from.node {
                Node::Host(_) | Node::Router(_) => Some(DropTail::new(queue(link, side))),
                Node::Switch(_) => None,
            };
            // The number is assigned when a capture starts.
            line.interface = captured.then_some(0);
            lines.push(line);
        }
    }
    (lines, destinations)
}

/// The media, each with a station for every node at an end of its links.
fn media(scenario: &Scenario, lines: &mut [Line]) -> Vec<Medium> {
    let described = scenario.media.values().enumerate();
    let mut media: Vec<Medium> = described
        .map(|(i, medium)| Medium::new(medium, Random::new(scenario.seed, Purpose::Medium, i)))
        .collect();
    for (i, line) in lines.iter_mut().enumerate() {
        let name = scenario.links[i / 2].medium.as_ref();
        let Some(index) = name.and_then(|name| scenario.media.get_index_of(name)) else {
            continue;
        };
        line.station = Some(StationId {
            medium: index as u32,
            station: media[index].station(line.from.node),
        });
    }
    media
}

/// `"from->to"`, with a number from the second parallel link on.
fn line_name(taken: &mut HashSet<String>, from: &str, to: &str) -> String {
    let name = format!("{from}->{to}");
    let numbered = (2..).map(|n| format!("{name}#{n}"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    names
        .find(|name| taken.insert(name.clone()))
        .expect("there are more numbers than links")
}

fn port(scenario: &Scenario, end: &scenario::End) -> Port {
    let node = match scenario.hosts.get_index_of(&end.node) {
        Some(host) => Node::Host(interface(scenario, host, end.port)),
        None => match scenario.routers.get_index_of(&end.node) {
            Some(router) => Node::Router(router),
            None => Node::Switch(
                scenario
                    .switches
                    .get_index_of(&end.node)
                    .expect("a checked scenario's links end at its nodes"),
            ),
        },
    };
    Port {
        node,
        port: end.port,
    }
}

/// The interfaces of all hosts: the first interface of each host in order, then further ones.
fn interfaces(scenario: &Scenario) -> Vec<Host> {
    let first = scenario.hosts.values();
    let first = first.map(|host| Host::new(host.ipv4, host.mac, host.gateway_mac));
    let further = scenario.hosts.values().flat_map(|host| &host.interfaces);
    let further = further.map(|i| Host::new(i.ipv4, i.mac, i.gateway_mac));
    first.chain(further).collect()
}

/// The index of a host's port among these interfaces.
fn interface(scenario: &Scenario, host: usize, port: u16) -> usize {
    if port == 0 {
        return host;
    }
    let before = scenario.hosts.values().take(host);
    let further: usize = before.map(|host| host.interfaces.len()).sum();
    scenario.hosts.len() + further + usize::from(port) - 1
}

/// Each further interface of a host, paired with its first interface.
fn further_interfaces(scenario: &Scenario) -> Vec<[usize; 2]> {
    let hosts = scenario.hosts.values().enumerate();
    let further =
        hosts.flat_map(|(host, described)| described.interfaces.iter().map(move |_| host));
    let numbered = further.zip(scenario.hosts.len()..);
    numbered.map(|(host, further)| [host, further]).collect()
}

/// The port numbers of flows, sources and associations.
fn ports(scenario: &Scenario) -> Result<(Vec<u16>, Ports), ScenarioError> {
    let flows = scenario.flows.iter().map(|flow| (&flow.from, &flow.to));
    let sources = scenario.sources.iter();
    let sources = sources.map(|source| (&source.from, &source.to));
    let associations = scenario.associations.iter();
    let associations = associations.map(|association| (&association.from, &association.to));
    let pairs = flows.chain(sources).chain(associations);
    Ports::assign(pairs.map(|(from, to)| (host(scenario, from), host(scenario, to)))).ok_or_else(
        || {
            let message = "there are more than 60000 flows and sources between two hosts";
            ScenarioError::new("flows", message)
        },
    )
}

fn associations(scenario: &Scenario, bins: &Bins, ports: &[u16]) -> Vec<AssociationFlow> {
    let interfaces = |name: &str| {
        let host = host(scenario, name);
        let described = &scenario.hosts[host];
        let further = described.interfaces.iter().map(|i| i.ipv4);
        let addresses = std::iter::once(described.ipv4).chain(further);
        let numbered = addresses.enumerate();
        numbered
            .map(|(port, address)| {
                let index = interface(scenario, host, port as u16);
                (index, address.0.into())
            })
            .collect()
    };
    let described = scenario.associations.iter().zip(ports).enumerate();
    described
        .map(|(i, (association, port))| {
            let ends = [interfaces(&association.from), interfaces(&association.to)];
            AssociationFlow::new(association, scenario.seed, i, *port, ends, bins)
        })
        .collect()
}

fn connect_hosts(lines: &[Line], hosts: &mut [Host]) {
    for (i, line) in lines.iter().enumerate() {
        if let Node::Host(host) = line.from.node {
            hosts[host].line = Some(i);
        }
    }
}

fn routers(scenario: &Scenario, lines: &[Line]) -> Vec<RouterState> {
    let mut lines_by_port = vec![BTreeMap::new(); scenario.routers.len()];
    for (i, line) in lines.iter().enumerate() {
        if let Node::Router(router) = line.from.node {
            lines_by_port[router].entry(line.from.port).or_insert(i);
        }
    }
    let routers = scenario.routers.values().zip(lines_by_port);
    routers
        .map(|(router, lines)| RouterState::new(router, |port| lines.get(&port).copied()))
        .collect()
}

fn side(link: &scenario::Link, line: usize) -> &LinkSide {
    match line % 2 {
        0 => &link.ab,
        _ => &link.ba,
    }
}

fn queue(link: &scenario::Link, side: &LinkSide) -> u32 {
    side.queue.unwrap_or(link.queue)
}

fn switches(
    scenario: &Scenario,
    programs: &Programs,
    lines: &[Line],
) -> Result<Vec<SwitchState>, ScenarioError> {
    let mut lines_out: Vec<Vec<(usize, &Line)>> = vec![Vec::new(); scenario.switches.len()];
    for (i, line) in lines.iter().enumerate() {
        if let Node::Switch(switch) = line.from.node {
            lines_out[switch].push((i, line));
        }
    }
    let nodes = scenario.switches.iter().zip(lines_out).enumerate();
    nodes
        .map(|(i, ((name, node), out))| switch(scenario, programs, &out, i, name, node))
        .collect()
}

/// Creates switch number `index`. `out` are the lines from it, with their numbers.
fn switch(
    scenario: &Scenario,
    programs: &Programs,
    out: &[(usize, &Line)],
    index: usize,
    name: &str,
    node: &scenario::SwitchNode,
) -> Result<SwitchState, ScenarioError> {
    let Some(pipeline) = programs.get(&node.program) else {
        let valid: Vec<&str> = programs.keys().map(String::as_str).collect();
        let message = format!(
            "no program {:?}; programs are {}",
            node.program,
            valid.join(", ")
        );
        return Err(ScenarioError::new(
            format!("switches.{name}.program"),
            message,
        ));
    };
    let longest = out.iter().map(|(i, _)| {
        let link = &scenario.links[i / 2];
        queue(link, side(link, *i))
    });
    let enough = longest.max().unwrap_or(0).saturating_mul(2);
    let capacity = node.capacity.unwrap_or(enough.max(MIN_CAPACITY));
    let config = |line: &Line| PortConfig {
        rate: Some(line.rate()),
        capacity: *node.port_capacity.get(&line.from.port).unwrap_or(&capacity),
        queues: MAX_QUEUES,
        scheduling: match node.port_weights.get(&line.from.port) {
            Some(weights) => Scheduling::weighted(weights),
            None => Scheduling::Strict,
        },
    };
    let ports: BTreeMap<u16, PortConfig> = out
        .iter()
        .map(|(_, line)| (line.from.port, config(line)))
        .collect();
    let config = SwitchConfig {
        seed: Random::new(scenario.seed, Purpose::Switch, index).bits(),
        ports: ports.clone(),
        other_ports: None,
        report_drops: true,
        report_waiting: true,
        ..SwitchConfig::default()
    };
    let record = &scenario.record;
    let mut state = SwitchState {
        name: name.to_string(),
        program: node.program.clone(),
        switch: Switch::with_pipeline(pipeline.clone(), config),
        lines: out.iter().map(|&(i, line)| (line.from.port, i)).collect(),
        ports,
        handled: 0,
        dropped: BTreeMap::new(),
        panic: None,
        adds_aqt: record.check_aqt && listed(record.aqt_switches.as_ref(), name),
        snoop: (!node.snoop.is_empty()).then(|| Snoop::new(&node.snoop)),
        refusals: None,
    };
    state.configure(node)?;
    if let Some(counter) = &record.check_ci
        && listed(counter.switches.as_ref(), name)
    {
        state.watch_refusals(counter)?;
    }
    Ok(state)
}

/// Whether `list` contains the name. An unset list contains all names.
fn listed(list: Option<&Vec<String>>, name: &str) -> bool {
    list.is_none_or(|list| list.iter().any(|listed| listed == name))
}

/// The flows, and the two ends of each.
fn flows(
    scenario: &Scenario,
    controls: &Controls,
    hosts: &[Host],
    lines: &[Line],
    ports: &[u16],
) -> Result<(Vec<Flow>, Vec<Slot>), ScenarioError> {
    let mut flows: Vec<Flow> = Vec::new();
    let mut ends = Vec::new();
    for (i, (flow, &port)) in scenario.flows.iter().zip(ports).enumerate() {
        // Flows that share their settings share the factory of their controls.
        let before = scenario.flows[..i].last().zip(flows.last());
        let algorithm = match before {
            Some((other, made)) if Arc::ptr_eq(&other.connection, &flow.connection) => {
                made.opening.algorithm()
            }
            _ => {
                let path = format!("flows[{i}].connection");
                flow.connection.factory(controls, &path)?
            }
        };
        let mut random = Random::new(scenario.seed, Purpose::Sequence, i);
        let starts = [random.bits() as u32, random.bits() as u32];
        let from = host(scenario, &flow.from);
        let to = host(scenario, &flow.to);
        let clocks = [from, to].map(|host| scenario.hosts[host].clock);
        let line_rate = hosts[from].line.map(|line| lines[line].rate().as_bps());
        let flow = Flow {
            name: flow.name(i),
            from,
            to,
            aqt: flow.connection.carries_aqt(),
            ci: flow.connection.carries_ci(),
            judges: flow.connection.control.reads(Mark::Ci),
            addresses: [(from, to), (to, from)].map(|(from, to)| addresses(hosts, from, to, port)),
            opening: Opening::new(flow, clocks, line_rate, algorithm, starts),
        };
        ends.push(match flow.opening.is_early() {
            true => Slot::Open(Box::new(flow.end(Side::Sender))),
            false => Slot::Unopened,
        });
        ends.push(Slot::Unopened);
        flows.push(flow);
    }
    Ok((flows, ends))
}

/// The sources, and the departure times of their datagrams.
fn sources(scenario: &Scenario, hosts: &[Host], ports: &[u16]) -> (Vec<OpenLoop>, Vec<Departures>) {
    let described = scenario.sources.iter().zip(ports).enumerate();
    described
        .map(|(i, (source, &port))| {
            let from = host(scenario, &source.from);
            let to = host(scenario, &source.to);
            let known = OpenLoop {
                name: source.name(i),
                host: from,
                sink: to,
                addresses: addresses(hosts, from, to, port),
                packet_octets: source.packet_octets,
            };
            (known, Departures::new(source, scenario.seed, i))
        })
        .unzip()
}

fn host(scenario: &Scenario, name: &str) -> usize {
    let index = scenario.hosts.get_index_of(name);
    index.expect("a checked scenario's traffic is between its hosts")
}

/// Both ends of a flow or source use the same port number.
fn addresses(hosts: &[Host], from: usize, to: usize, port: u16) -> wire::Flow {
    wire::Flow {
        source_mac: hosts[from].mac.0,
        destination_mac: hosts[from].gateway_mac.0,
        source: hosts[from].address.0.into(),
        destination: hosts[to].address.0.into(),
        source_port: port,
        destination_port: port,
    }
}
