//! Running scripts.

use crate::trace::Recorder;
use crate::{
    Call, Command, CounterCell, Expected, Failure, Number, Quantity, Report, Script, Trace, Verb,
};
use engine::{
    CloneSession, CounterData, DirectOf, Entry, EntryAction, Event, Match, MeterConfig, Packet,
    Panic, Replica, Switch, SwitchConfig,
};
use num_bigint::BigUint;
use p4_ir::{ExternId, MatchKind, Program, TableId};
use std::collections::BTreeMap;
use units::{Duration, Instant};

/// Time between two packets of a script.
const BETWEEN: Duration = Duration::from_millis(1);
/// The duration of `wait`.
const WAIT: Duration = Duration::from_millis(2_000);

/// The ports whose packets are compared with the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ports {
    /// Ports to which the script sends, or from which it expects packets. Packets at other ports are ignored, because
    /// p4c's runner has no interface for them.
    Named,
    /// All ports: an unexpected packet is a failure at any port.
    All,
}

/// Runs a script on a new switch with this program.
pub fn run(program: &Program, script: &Script, ports: Ports) -> Report {
    run_with(program, script, ports, None)
}

/// Runs a script on a new switch with this program, and records a trace of its packets.
pub fn run_traced(program: &Program, script: &Script, ports: Ports) -> (Report, Trace) {
    let recorder = Recorder::new(program);
    let report = run_with(program, script, ports, Some(recorder.clone()));
    (report, recorder.take())
}

fn run_with(
    program: &Program,
    script: &Script,
    ports: Ports,
    recorder: Option<Recorder>,
) -> Report {
    match Switch::new(program, SwitchConfig::default()) {
        Ok(switch) => run_recorded(switch, script, ports, recorder).report,
        Err(errors) => Report {
            failures: errors.into_iter().map(Failure::Program).collect(),
            ..Report::default()
        },
    }
}

/// The state after a script.
#[derive(Debug)]
pub struct Outcome {
    /// The results of the script.
    pub report: Report,
    /// For each compared port: the line of the packet after which a packet was sent, and its octets.
    pub sent: BTreeMap<u16, Vec<(u32, Vec<u8>)>>,
    /// The switch.
    pub switch: Switch,
}

/// Runs a script on a switch.
pub fn run_on(switch: Switch, script: &Script, ports: Ports) -> Outcome {
    run_recorded(switch, script, ports, None)
}

fn run_recorded(
    switch: Switch,
    script: &Script,
    ports: Ports,
    recorder: Option<Recorder>,
) -> Outcome {
    let mut runner = Runner::new(switch, ports, recorder);
    if let Some(recorder) = runner.recorder.clone() {
        runner.switch.set_tracer(Some(Box::new(recorder)));
    }
    for port in script.commands.iter().filter_map(port_of) {
        runner.sent.insert(port, Vec::new());
    }
    for command in &script.commands {
        if let Err(message) = runner.command(command) {
            let line = command.line;
            runner
                .report
                .failures
                .push(Failure::Command { line, message });
        }
    }
    runner.compare();
    let Runner {
        report,
        sent,
        switch,
        ..
    } = runner;
    Outcome {
        report,
        sent,
        switch,
    }
}

/// The port of a packet that a command sends or expects.
fn port_of(command: &Command) -> Option<u16> {
    match command.verb {
        Verb::Packet { port, .. } | Verb::Expect { port, .. } => Some(port),
        _ => None,
    }
}

struct Runner {
    switch: Switch,
    ports: Ports,
    now: Instant,
    /// For each port: line, and the expected packet.
    expected: BTreeMap<u16, Vec<(u32, Option<Expected>)>>,
    /// For each compared port: the line of the packet after which a packet was sent, and its octets.
    sent: BTreeMap<u16, Vec<(u32, Vec<u8>)>>,
    /// Entries with a name.
    entries: BTreeMap<String, (TableId, Entry)>,
    /// Nodes of multicast groups: rid and ports.
    nodes: Vec<(u16, Vec<u16>)>,
    /// The nodes of each multicast group.
    groups: BTreeMap<u16, Vec<u32>>,
    /// The destination of each clone session.
    sessions: BTreeMap<u16, SessionTo>,
    report: Report,
    recorder: Option<Recorder>,
}

#[derive(Clone, Copy)]
enum SessionTo {
    Port(u16),
    Group(u16),
}

impl Runner {
    fn new(switch: Switch, ports: Ports, recorder: Option<Recorder>) -> Self {
        Runner {
            switch,
            ports,
            now: Instant::ZERO,
            expected: BTreeMap::new(),
            sent: BTreeMap::new(),
            entries: BTreeMap::new(),
            nodes: Vec::new(),
            groups: BTreeMap::new(),
            sessions: BTreeMap::new(),
            report: Report::default(),
            recorder,
        }
    }

    fn command(&mut self, command: &Command) -> Result<(), String> {
        let line = command.line;
        match &command.verb {
            Verb::Add {
                table,
                priority,
                matches,
                action,
                id,
            } => {
                self.add(table, *priority, matches, action, id.as_ref())?;
            }
            Verb::SetDefault { table, action } => {
                let table = self.table(table)?;
                let spec = EntryAction::Run(self.call(table, action)?);
                self.switch.set_default(table, spec).map_err(text)?;
            }
            Verb::RemoveAll => self.remove_all()?,
            Verb::CheckCounter {
                counter,
                cell,
                check,
            } => {
                let data = self.counter(counter, cell)?;
                if let Some(check) = *check {
                    let (quantity, comparison, number) = check;
                    let found = match quantity {
                        Quantity::Packets => data.packets,
                        Quantity::Octets => data.octets,
                    };
                    if comparison.holds(found, number) {
                        self.report.passed += 1;
                    } else {
                        let counter = counter.clone();
                        self.report.failures.push(Failure::Counter {
                            line,
                            counter,
                            check,
                            found,
                        });
                    }
                }
            }
            Verb::Packet { port, octets } => self.packet(line, *port, octets),
            Verb::Expect { port, expected } => {
                self.expected
                    .entry(*port)
                    .or_default()
                    .push((line, expected.clone()));
            }
            Verb::NoPacket => {}
            Verb::Wait => self.now += WAIT,
            Verb::MirroringAdd(session, port) => self.mirror(*session, SessionTo::Port(*port))?,
            Verb::MirroringAddMc(session, group) => {
                self.mirror(*session, SessionTo::Group(*group))?;
            }
            Verb::MirroringDelete(session) => {
                self.sessions.remove(session);
                self.switch
                    .set_clone_session(*session, None)
                    .map_err(text)?;
            }
            Verb::MirroringGet(session) => {
                if self.switch.clone_session(*session).is_none() {
                    return Err(format!("there is no clone session {session}"));
                }
            }
            Verb::GroupCreate(group) => {
                self.groups.entry(*group).or_default();
            }
            Verb::NodeCreate(rid, ports) => self.nodes.push((*rid, ports.clone())),
            Verb::NodeUpdate(node, ports) => {
                let valid = self.nodes.len();
                let found = self.nodes.get_mut(*node as usize);
                found.ok_or_else(|| no_node(*node, valid))?.1 = ports.clone();
                self.replicate()?;
            }
            Verb::NodeAssociate(group, node) => {
                if *node as usize >= self.nodes.len() {
                    return Err(no_node(*node, self.nodes.len()));
                }
                let nodes = self.groups.get_mut(group);
                let nodes = nodes.ok_or_else(|| format!("there is no multicast group {group}"))?;
                nodes.push(*node);
                self.replicate()?;
            }
            Verb::CounterRead(counter, index) => {
                self.counter(counter, &CounterCell::Index(*index))?;
            }
            Verb::CounterWrite(counter, index, packets, octets) => {
                let id = self.object(counter)?;
                let data = CounterData {
                    packets: *packets,
                    octets: *octets,
                };
                self.switch.counter_write(id, *index, data).map_err(text)?;
            }
            Verb::RegisterRead(register, index) => {
                let id = self.object(register)?;
                self.switch.register_read(id, *index).map_err(text)?;
            }
            Verb::RegisterWrite(register, index, value) => {
                let id = self.object(register)?;
                self.switch
                    .register_write(id, *index, value.plain()?)
                    .map_err(text)?;
            }
            Verb::RegisterReset(register) => {
                let id = self.object(register)?;
                for index in 0..self.switch.object_size(id).map_err(text)? {
                    self.switch
                        .register_write(id, index, &BigUint::ZERO)
                        .map_err(text)?;
                }
            }
            Verb::SetCrcParameters(calculation, width, parameters) => {
                self.switch
                    .set_crc_parameters(calculation, *width, *parameters)
                    .map_err(text)?;
            }
            Verb::MeterGetRates(meter, index) => {
                let id = self.object(meter)?;
                self.switch.meter_read(id, *index).map_err(text)?;
            }
            Verb::MeterSetRates(meter, index, rates) => {
                let id = self.object(meter)?;
                self.switch
                    .meter_write(id, *index, Some(meter_config(rates)))
                    .map_err(text)?;
            }
            Verb::MeterArraySetRates(meter, rates) => {
                let id = self.object(meter)?;
                for index in 0..self.switch.object_size(id).map_err(text)? {
                    let config = Some(meter_config(rates));
                    self.switch.meter_write(id, index, config).map_err(text)?;
                }
            }
        }
        Ok(())
    }

    fn packet(&mut self, line: u32, port: u16, octets: &[u8]) {
        self.report.packets_in += 1;
        let packet = Packet {
            tag: line.into(),
            ..Packet::new(octets.to_vec())
        };
        self.switch.handle_packet(self.now, port, packet);
        self.now += BETWEEN;
        while let Some(sent) = self.switch.poll_transmit(self.now) {
            if let Some(recorder) = &self.recorder {
                let Packet { octets, tag, .. } = &sent.packet;
                recorder.sent(sent.start, *tag, sent.port, octets);
            }
            let packets = match self.ports {
                Ports::Named => self.sent.get_mut(&sent.port),
                Ports::All => Some(self.sent.entry(sent.port).or_default()),
            };
            if let Some(packets) = packets {
                self.report.packets_out += 1;
                packets.push((line, sent.packet.octets.into()));
            }
        }
        while let Some(event) = self.switch.poll_event() {
            if let Event::Panic(panic) = event {
                let Panic { block, message, .. } = *panic;
                self.report.failures.push(Failure::Panic {
                    line,
                    block,
                    message,
                });
            }
        }
    }

    /// Compares the sent packets with the expected ones, port by port, in order.
    fn compare(&mut self) {
        for (&port, sent) in &self.sent {
            let expected = self.expected.remove(&port).unwrap_or_default();
            let mut sent = sent.iter();
            for (line, expected) in expected {
                let failure = match (expected, sent.next()) {
                    (expected, None) => Failure::Missing {
                        line,
                        port,
                        expected,
                    },
                    (Some(expected), Some((_, found))) if expected.difference(found).is_some() => {
                        Failure::Differs {
                            line,
                            port,
                            expected,
                            found: found.clone(),
                        }
                    }
                    _ => {
                        self.report.passed += 1;
                        continue;
                    }
                };
                self.report.failures.push(failure);
            }
            for (after, found) in sent {
                let (after, found) = (*after, found.clone());
                self.report
                    .failures
                    .push(Failure::Unexpected { after, port, found });
            }
        }
    }

    // -- tables -------------------------------------------------------------------------------

    fn add(
        &mut self,
        table: &str,
        priority: Option<u32>,
        matches: &[(String, Number)],
        action: &Call,
        id: Option<&String>,
    ) -> Result<(), String> {
        let table = self.table(table)?;
        let spec = self.call(table, action)?;
        let action = self.switch.choice_of(table, vec![spec]);
        let definition = &self.switch.program()[table];
        let keys: Vec<_> = definition
            .keys
            .iter()
            .filter(|key| key.kind != MatchKind::Selector)
            .collect();
        // An omitted key matches anything. An omitted exact key is 0, as in p4c's runner.
        let unset = |kind: &MatchKind| match kind {
            MatchKind::Exact => Match::exact(0u8),
            _ => Match::Any,
        };
        let mut sets: Vec<_> = keys.iter().map(|key| unset(&key.kind)).collect();
        for (name, number) in matches {
            let names: Vec<_> = keys.iter().map(|key| key.name.clone()).collect();
            let at = find_key(name, &names)
                .ok_or_else(|| format!("no key is named `{name}`; valid: {}", names.join(", ")))?;
            let width = keys[at].value.ty.width();
            sets[at] = number.set(&keys[at].kind, width)?;
        }
        let by_priority = keys.iter().any(|key| {
            matches!(
                key.kind,
                MatchKind::Ternary | MatchKind::Range | MatchKind::Optional
            )
        });
        let priority = if by_priority {
            priority.unwrap_or(0).saturating_add(1)
        } else {
            0
        };
        let entry = Entry {
            matches: sets,
            priority,
            action,
        };
        if let Some(id) = id {
            self.entries.insert(id.clone(), (table, entry.clone()));
        }
        self.switch.insert(table, entry).map_err(text)
    }

    fn call(&self, table: TableId, call: &Call) -> Result<engine::ActionSpec, String> {
        let program = self.switch.program();
        let listed = program[table].actions.iter();
        let names: Vec<_> = listed
            .map(|listed| program[listed.action].name.as_str())
            .collect();
        let name = names[find_end("action", &call.name, &names)?];
        let mut args = Vec::new();
        for (name, number) in &call.args {
            args.push((name.as_str(), number.plain()?.clone()));
        }
        self.switch.action_spec(table, name, &args).map_err(text)
    }

    fn remove_all(&mut self) -> Result<(), String> {
        for table in 0..self.switch.program().tables.len() {
            let table = TableId(table as u32);
            if self.switch.program()[table].const_entries {
                continue;
            }
            for entry in self.switch.entries(table).map_err(text)? {
                self.switch
                    .delete(table, &entry.matches, entry.priority)
                    .map_err(text)?;
            }
        }
        Ok(())
    }

    fn table(&self, name: &str) -> Result<TableId, String> {
        let tables = self.switch.program().tables.iter();
        let names: Vec<_> = tables.map(|table| table.name.as_str()).collect();
        find_end("table", name, &names).map(|at| TableId(at as u32))
    }

    fn object(&self, name: &str) -> Result<ExternId, String> {
        let objects = self.switch.program().externs.iter();
        let names: Vec<_> = objects.map(|object| object.name.as_str()).collect();
        find_end("extern object", name, &names).map(|at| ExternId(at as u32))
    }

    fn counter(&self, name: &str, cell: &CounterCell) -> Result<CounterData, String> {
        match cell {
            CounterCell::Index(index) => {
                let id = self.object(name)?;
                self.switch.counter_read(id, *index).map_err(text)
            }
            CounterCell::Entry(id) => {
                let (table, entry) = self
                    .entries
                    .get(id)
                    .ok_or_else(|| format!("there is no entry with the name `{id}`"))?;
                self.switch
                    .direct_counter_read(*table, DirectOf::Entry(&entry.matches, entry.priority))
                    .map_err(text)
            }
        }
    }

    // -- replication --------------------------------------------------------------------------

    fn mirror(&mut self, session: u16, to: SessionTo) -> Result<(), String> {
        self.sessions.insert(session, to);
        self.replicate()
    }

    /// Writes groups, and sessions that refer to groups, in their current state.
    fn replicate(&mut self) -> Result<(), String> {
        let replicas = |group: &u16| -> Vec<Replica> {
            let nodes = self.groups.get(group).into_iter().flatten();
            let nodes = nodes.map(|&node| &self.nodes[node as usize]);
            let copies = |(rid, ports): &(u16, Vec<u16>)| -> Vec<Replica> {
                ports
                    .iter()
                    .map(|&port| Replica { port, rid: *rid })
                    .collect()
            };
            nodes.flat_map(copies).collect()
        };
        for group in self.groups.keys() {
            self.switch
                .set_multicast_group(*group, replicas(group))
                .map_err(text)?;
        }
        for (&session, to) in &self.sessions {
            let replicas = match to {
                SessionTo::Port(port) => vec![Replica {
                    port: *port,
                    rid: 0,
                }],
                SessionTo::Group(group) => replicas(group),
            };
            let to = CloneSession {
                replicas,
                truncate: None,
            };
            self.switch
                .set_clone_session(session, Some(to))
                .map_err(text)?;
        }
        Ok(())
    }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn no_node(node: u32, count: usize) -> String {
    format!("there is no node {node}; {count} have been created, numbered from 0")
}

/// Scripts give rates per microsecond.
fn meter_config(rates: &[(f64, u64)]) -> MeterConfig {
    let ((cir, cburst), (pir, pburst)) = (rates[0], rates[1]);
    MeterConfig {
        cir: cir * 1e6,
        cburst,
        pir: pir * 1e6,
        pburst,
        eburst: 0,
    }
}

/// Finds a name in a list: the full name, or a suffix that only one of them has, at any position.
fn find_end(kind: &str, name: &str, all: &[&str]) -> Result<usize, String> {
    if let Some(at) = all.iter().position(|full| *full == name) {
        return Ok(at);
    }
    let ends: Vec<_> = (0..all.len())
        .filter(|&at| all[at].ends_with(name))
        .collect();
    match &ends[..] {
        [only] => Ok(*only),
        [] => Err(format!(
            "no {kind} is named `{name}`; valid: {}",
            all.join(", ")
        )),
        many => {
            let names: Vec<_> = many.iter().map(|&at| all[at]).collect();
            Err(format!("`{name}` is ambiguous: {}", names.join(", ")))
        }
    }
}

/// Finds a key by the names that p4c's runner accepts for it.
fn find_key(name: &str, keys: &[String]) -> Option<usize> {
    let name = &stack_index(name);
    let is = |wanted: &str| keys.iter().position(|key| key == wanted);
    let ends = |end: &str| keys.iter().position(|key| key.ends_with(end));
    let validity = name
        .strip_suffix(".valid")
        .map(|header| format!("{header}.$valid$"));
    is(name)
        .or_else(|| is(&format!("{name}$")))
        .or_else(|| is(&format!("{name}.$valid$")))
        .or_else(|| validity.as_ref().and_then(|validity| is(validity)))
        .or_else(|| ends(&format!(".{name}")))
        .or_else(|| ends(&format!(".{name}$")))
        .or_else(|| {
            validity
                .as_ref()
                .and_then(|validity| ends(&format!(".{validity}")))
        })
        .or_else(|| {
            if name == "valid" {
                ends("$valid$")
            } else {
                None
            }
        })
        // p4testgen omits the bit slice of a key.
        .or_else(|| keys.iter().position(|key| without_slice(key) == name))
}

/// `hdr.f` of `hdr.f[7:4]`.
fn without_slice(key: &str) -> &str {
    match key.rsplit_once('[') {
        Some((field, bits)) if bits.contains(':') => field,
        _ => key,
    }
}

/// `extra$0.h` is an old form of `extra[0].h`.
fn stack_index(name: &str) -> String {
    let Some((before, after)) = name.split_once('$') else {
        return name.into();
    };
    let end = after
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(after.len());
    match end {
        0 => name.into(),
        _ => format!("{before}[{}]{}", &after[..end], &after[end..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::{TraceEvent, Tracer};
    use p4_frontend::{NoLoader, SourceMap};

    #[test]
    fn keys_are_found_as_in_p4c() {
        let keys = ["hdr.extra[0].h", "hdr.data.f1", "hdr.h.$valid$"].map(String::from);
        assert_eq!(find_key("extra$0.h", &keys), Some(0));
        assert_eq!(find_key("data.f1", &keys), Some(1));
        assert_eq!(find_key("f1", &keys), Some(1));
        assert_eq!(find_key("hdr.h", &keys), Some(2));
        assert_eq!(find_key("h.valid", &keys), Some(2));
        assert_eq!(find_key("h.$valid$", &keys), Some(2));
        assert_eq!(find_key("f2", &keys), None);
        let keys = ["hdr.extra[0]", "hdr.f[7:4]"].map(String::from);
        assert_eq!(find_key("hdr.f", &keys), Some(1));
        assert_eq!(find_key("hdr.extra", &keys), None);
    }

    #[test]
    fn ends_of_names_must_be_unambiguous() {
        let names = ["c.act", "c.react", "c.other"];
        assert_eq!(find_end("action", "other", &names), Ok(2));
        assert_eq!(find_end("action", ".act", &names), Ok(0));
        assert!(
            find_end("action", "act", &names)
                .unwrap_err()
                .contains("is ambiguous")
        );
    }

    /// Panics when the first packet leaves its queue.
    #[derive(Debug)]
    struct Saboteur(u32);

    impl Tracer for Saboteur {
        fn event(&mut self, _: Instant, _: u64, event: TraceEvent<'_>) {
            if matches!(event, TraceEvent::Dequeue { .. }) {
                self.0 += 1;
                assert!(self.0 != 1, "sabotage");
            }
        }
    }

    #[test]
    fn a_panic_of_the_engine_is_a_failure_of_the_packet() {
        let mut sources = SourceMap::new();
        let entry = sources.add("copies.p4", include_str!("../tests/programs/copies.p4"));
        let (program, _) = p4_frontend::compile(&mut sources, entry, &mut NoLoader, &[]);
        let program = program.expect("the program compiles");
        let switch = Switch::new(&program, SwitchConfig::default()).expect("a v1model program");
        let mut runner = Runner::new(switch, Ports::All, None);
        runner.switch.set_tracer(Some(Box::new(Saboteur(0))));
        runner.packet(3, 0, &[2]);
        runner.packet(4, 0, &[2]);
        let expected = Failure::Panic {
            line: 3,
            block: "egress",
            message: "sabotage".into(),
        };
        assert_eq!(runner.report.failures, [expected]);
        assert_eq!(
            (runner.report.packets_in, runner.report.packets_out),
            (2, 1)
        );
    }
}
