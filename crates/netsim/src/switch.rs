//! A P4 switch in a network: the engine's switch and the lines at its ports.

use crate::lines_out::LinesOut;
use crate::record::Column;
use crate::scenario::{
    MatchValue, RefusalCounter, Replica, ScenarioError, SwitchNode, TableEntry, Value,
};
use crate::snoop::Snoop;
use engine::{DropCause, Match, Panic, PortConfig, Switch};
use indexmap::IndexMap;
use num_bigint::BigUint;
use p4_ir::ExternId;
use std::collections::BTreeMap;

/// A switch, and the state that the simulator keeps for it.
#[derive(Debug)]
pub(crate) struct SwitchState {
    pub name: String,
    pub program: String,
    pub switch: Switch,
    /// The lines from it, by port.
    pub lines: LinesOut,
    /// The current configuration of its ports.
    pub ports: BTreeMap<u16, PortConfig>,
    /// Packets that its program handled.
    pub handled: u64,
    /// The causes that occurred, with drops per bin.
    pub dropped: BTreeMap<DropCause, Column>,
    /// The first panic of the engine.
    pub panic: Option<String>,
    /// Whether its program adds to AQT.
    pub adds_aqt: bool,
    /// Its Snoop agent.
    pub snoop: Option<Snoop>,
    /// For checking congestion indication.
    pub refusals: Option<Refusals>,
}

/// When each port last refused a packet because its queue was full, as counted by the program.
#[derive(Debug)]
pub(crate) struct Refusals {
    counter: ExternId,
    stride: u64,
    slot: u64,
    /// For each port: number of refused packets, and the number of the last one among the packets that the switch
    /// handled.
    ports: BTreeMap<u16, (u64, Option<u64>)>,
}

impl SwitchState {
    /// Inserts the scenario's entries, and sets its default actions, groups and sessions.
    ///
    /// # Errors
    /// The first one that does not fit the program.
    pub fn configure(&mut self, node: &SwitchNode) -> Result<(), ScenarioError> {
        for (i, entry) in node.entries.iter().enumerate() {
            self.add(entry).map_err(|e| {
                ScenarioError::new(
                    format!("switches.{}.entries[{i}]", self.name),
                    e.to_string(),
                )
            })?;
        }
        for (i, group) in node.multicast_groups.iter().enumerate() {
            self.switch
                .set_multicast_group(group.id, replicas(&group.replicas))
                .map_err(|e| {
                    let path = format!("switches.{}.multicast_groups[{i}]", self.name);
                    ScenarioError::new(path, e.to_string())
                })?;
        }
        for (i, session) in node.clone_sessions.iter().enumerate() {
            let to = engine::CloneSession {
                replicas: replicas(&session.replicas),
                truncate: Some(session.octets).filter(|octets| *octets > 0),
            };
            self.switch
                .set_clone_session(session.id, Some(to))
                .map_err(|e| {
                    let path = format!("switches.{}.clone_sessions[{i}]", self.name);
                    ScenarioError::new(path, e.to_string())
                })?;
        }
        for (i, default) in node.default_actions.iter().enumerate() {
            let params = params(&default.params);
            self.switch
                .set_default_by_name(&default.table, &default.action, &params)
                .map_err(|e| {
                    let path = format!("switches.{}.default_actions[{i}]", self.name);
                    ScenarioError::new(path, e.to_string())
                })?;
        }
        Ok(())
    }

    fn add(&mut self, entry: &TableEntry) -> Result<(), engine::ControlError> {
        let matches: Vec<(&str, Match)> = entry
            .matches
            .iter()
            .map(|(key, value)| (key.as_str(), to_match(value)))
            .collect();
        let priority = entry.priority.unwrap_or(0);
        let choices: Vec<_> = std::iter::once(&entry.params)
            .chain(&entry.alternatives)
            .map(params)
            .collect();
        let choices: Vec<&[_]> = choices.iter().map(Vec::as_slice).collect();
        self.switch
            .add_choices(&entry.table, &matches, priority, &entry.action, &choices)
    }

    /// Records a panic of the engine, if it is the first.
    pub fn note_panic(&mut self, panic: &Panic) {
        let Panic {
            at,
            message,
            block,
            ingress_port,
            ..
        } = panic;
        self.panic.get_or_insert_with(|| {
            let at_s = at.as_secs_f64();
            format!("{block}, at {at_s} s, of a packet from port {ingress_port}: {message}")
        });
    }

    /// Starts to watch the counter of refused packets.
    ///
    /// # Errors
    /// The program has no such counter.
    pub fn watch_refusals(&mut self, counter: &RefusalCounter) -> Result<(), ScenarioError> {
        let id = self.switch.object(&counter.counter).map_err(|e| {
            let message = format!("switch {}: {e}", self.name);
            ScenarioError::new("record.check_ci.counter", message)
        })?;
        self.refusals = Some(Refusals {
            counter: id,
            stride: counter.stride,
            slot: counter.slot,
            ports: self.lines.iter().map(|(p, _)| (p, (0, None))).collect(),
        });
        Ok(())
    }

    /// Called after a program has dropped a packet: records the port whose queue refused it, if one did.
    pub fn note_refusal(&mut self) {
        let Some(refusals) = &mut self.refusals else {
            return;
        };
        for (&port, (count, last)) in &mut refusals.ports {
            let cell = refusals.stride * u64::from(port) + refusals.slot;
            let Ok(now) = self.switch.counter_read(refusals.counter, cell) else {
                continue;
            };
            if now.packets > *count {
                *count = now.packets;
                *last = Some(self.handled);
            }
        }
    }

    /// The number of the last packet that a port's queue refused.
    pub fn last_refusal(&self, port: u16) -> Option<u64> {
        self.refusals.as_ref()?.ports.get(&port)?.1
    }
}

fn params(given: &IndexMap<String, Value>) -> Vec<(&str, BigUint)> {
    given
        .iter()
        .map(|(name, value)| (name.as_str(), value.0.clone()))
        .collect()
}

fn replicas(given: &[Replica]) -> Vec<engine::Replica> {
    let given = given.iter();
    given
        .map(|replica| engine::Replica {
            port: replica.port,
            rid: replica.instance,
        })
        .collect()
}

fn to_match(value: &MatchValue) -> Match {
    match value.clone() {
        MatchValue::Exact(value) => Match::Exact(value),
        MatchValue::Prefix(value, prefix) => Match::Lpm { value, prefix },
        MatchValue::Range(low, high) => Match::Range { low, high },
        MatchValue::Mask(value, mask) => Match::Ternary { value, mask },
        MatchValue::Any => Match::Any,
    }
}
