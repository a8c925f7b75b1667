//! Writes a script that reproduces a switch's state and sends it a packet.

use engine::{ActionSpec, Entry, EntryAction, Match, Panic, Replica, Switch, SwitchConfig};
use num_bigint::BigUint;
use p4_ir::{ExternId, Program, TableId, ValueSetId};
use std::fmt::Write;

/// The maximum number of cells of registers or meters that are read per array.
const MAX_CELLS: u64 = 65_536;

/// The file that declares the program's blocks.
pub fn program_name(program: &Program) -> &str {
    let file = program.blocks.first().map_or(0, |block| block.loc.file);
    let name = program.files.get(file as usize);
    name.map_or("the program", |name| name.as_str())
}

/// Writes a script for the packet that caused a panic: the state that a control plane has set in the switch, and the
/// packet. State that scripts cannot represent becomes a comment.
pub fn reproduce(switch: &Switch, panic: &Panic) -> String {
    let mut script = Writer::default();
    let name = program_name(switch.program());
    script.comment(&format!(
        "The engine panicked in {} of {name}: {}",
        panic.block, panic.message
    ));
    script.tables(switch);
    script.objects(switch);
    script.replication(switch);
    if panic.passes > 0 {
        script.comment(&format!(
            "The packet had been resubmitted, recirculated or cloned {} times; this is how it was \
             parsed last.",
            panic.passes
        ));
    }
    let mut octets = panic.octets.clone();
    octets.resize(octets.len() + panic.elided as usize, 0);
    let digits: String = octets.iter().map(|octet| format!("{octet:02x}")).collect();
    script.line(format_args!("packet {} {digits}", panic.ingress_port));
    script.text
}

#[derive(Default)]
struct Writer {
    text: String,
    /// Number of nodes of multicast groups so far.
    nodes: u32,
}

impl Writer {
    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{line}");
    }

    fn comment(&mut self, text: &str) {
        for line in text.lines() {
            self.line(format_args!("# {line}"));
        }
    }

    /// Writes entries and default actions that differ from those of the source.
    fn tables(&mut self, switch: &Switch) {
        let program = switch.program();
        let Ok(fresh) = Switch::new(program, SwitchConfig::default()) else {
            return;
        };
        for (at, table) in (0..).zip(&program.tables) {
            let id = TableId(at);
            for entry in switch.entries(id).unwrap_or_default() {
                let source = fresh.read(id, &entry.matches, entry.priority);
                if !source.is_ok_and(|source| source == entry) {
                    self.entry(program, id, &entry);
                }
            }
            for entry in fresh.entries(id).unwrap_or_default() {
                if switch.read(id, &entry.matches, entry.priority).is_err() {
                    let name = &table.name;
                    self.comment(&format!("an entry of the source was deleted from {name}"));
                }
            }
            match (switch.default_action(id), fresh.default_action(id)) {
                (Ok(now), Ok(before)) if now == before => {}
                (Ok(EntryAction::Run(spec)), _) => {
                    let call = call(program, &spec);
                    self.line(format_args!("setdefault \"{}\" {call}", table.name));
                }
                _ => self.comment(&format!(
                    "the default action of {} is a member or group of an action profile",
                    table.name
                )),
            }
        }
    }

    fn entry(&mut self, program: &Program, id: TableId, entry: &Entry) {
        let table = &program[id];
        let EntryAction::Run(spec) = &entry.action else {
            let name = &table.name;
            self.comment(&format!("an entry of {name} leads to an action profile"));
            return;
        };
        let mut line = format!("add \"{}\"", table.name);
        if let Some(priority) = entry.priority.checked_sub(1) {
            let _ = write!(line, " {priority}");
        }
        let keys = table.keys.iter();
        let keys = keys.filter(|key| key.kind != p4_ir::MatchKind::Selector);
        for (key, set) in keys.zip(&entry.matches) {
            let set = match set {
                // An omitted key matches anything.
                Match::Any => continue,
                Match::Exact(value) => format!("{value:#x}"),
                Match::Lpm { value, prefix } => format!("{value:#x}/{prefix}"),
                Match::Ternary { value, mask } => format!("{value:#x}&&&{mask:#x}"),
                Match::Range { low, high } => format!("{low:#x}->{high:#x}"),
            };
            let _ = write!(line, " \"{}\":{set}", key.name);
        }
        self.line(format_args!("{line} {}", call(program, spec)));
    }

    /// Writes registers, meters and other state that a control plane sets.
    fn objects(&mut self, switch: &Switch) {
        let program = switch.program();
        for (at, object) in (0..).zip(&program.externs) {
            let (id, name) = (ExternId(at), &object.name);
            let size = switch.object_size(id).unwrap_or(0);
            let cells = 0..size.min(MAX_CELLS);
            match object.type_name.as_str() {
                "register" => {
                    for index in cells {
                        match switch.register_read(id, index) {
                            Ok(value) if value != BigUint::ZERO => {
                                self.line(format_args!(
                                    "register_write \"{name}\" {index} {value:#x}"
                                ));
                            }
                            _ => {}
                        }
                    }
                }
                "meter" => {
                    for index in cells {
                        if let Ok(Some(meter)) = switch.meter_read(id, index) {
                            let (cir, pir) = (meter.cir / 1e6, meter.pir / 1e6);
                            let (cburst, pburst) = (meter.cburst, meter.pburst);
                            self.line(format_args!(
                                "meter_set_rates \"{name}\" {index} {cir}:{cburst} {pir}:{pburst}"
                            ));
                        }
                    }
                }
                "action_profile" | "action_selector" => {
                    if switch.members(id).is_ok_and(|members| !members.is_empty()) {
                        self.comment(&format!("{name} has members"));
                    }
                    continue;
                }
                _ => continue,
            }
            if size > MAX_CELLS {
                self.comment(&format!("{name}: its first {MAX_CELLS} cells of {size}"));
            }
        }
        for (at, set) in (0..).zip(&program.value_sets) {
            let members = switch.value_set_read(ValueSetId(at)).unwrap_or_default();
            if !members.is_empty() {
                self.comment(&format!("value set {} has members", set.name));
            }
        }
    }

    /// Writes multicast groups and clone sessions.
    fn replication(&mut self, switch: &Switch) {
        let groups = (1..=u16::MAX).rev();
        let mut free = groups.filter(|&group| switch.multicast_group(group).is_empty());
        for (group, replicas) in switch.multicast_groups() {
            self.group(group, replicas);
        }
        for (session, to) in switch.clone_sessions() {
            if let Some(octets) = to.truncate {
                self.comment(&format!(
                    "clone session {session} truncates to {octets} octets"
                ));
            }
            match &to.replicas[..] {
                [Replica { port, rid: 0 }] => {
                    self.line(format_args!("mirroring_add {session} {port}"));
                }
                replicas => {
                    // A session with several replicas needs a separate group.
                    if let Some(group) = free.next() {
                        self.group(group, replicas);
                        self.line(format_args!("mirroring_add_mc {session} {group}"));
                    }
                }
            }
        }
    }

    fn group(&mut self, group: u16, replicas: &[Replica]) {
        self.line(format_args!("mc_mgrp_create {group}"));
        for Replica { port, rid } in replicas {
            let node = self.nodes;
            self.nodes += 1;
            self.line(format_args!("mc_node_create {rid} {port}"));
            self.line(format_args!("mc_node_associate {group} {node}"));
        }
    }
}

fn call(program: &Program, spec: &ActionSpec) -> String {
    let action = &program[spec.action];
    let args = action.params.iter().zip(&spec.args);
    let args: Vec<_> = args
        .map(|(param, arg)| format!("\"{}\":{arg:#x}", param.name))
        .collect();
    format!("\"{}\"({})", action.name, args.join(", "))
}
