//! Flows that have ended: their connections are let go, and their records handed over.
//!
//! An end goes by itself when its connection is closed, since that answers nothing any more. The other end of a
//! flow of today's hosts waits in TIME-WAIT for a minute; it goes when none of the flow's packets is under way, so
//! that nothing can reach it. This is known where nothing copies packets and one thread has the whole network.

use super::Simulation;
use crate::flow::{Side, Slot};
use crate::record::FlowRecord;
use crate::scenario::Scenario;

/// What is kept of flows that end, where they are handed over as they do.
#[derive(Debug, Default)]
pub(super) struct Ending {
    /// By flow: its packets under way; empty: not known.
    under_way: Vec<u32>,
    /// By flow: its record has been handed over.
    over: Vec<bool>,
    /// Flows of which the last packet under way has just gone.
    quiet: Vec<usize>,
    ended: Vec<(usize, FlowRecord)>,
}

impl Ending {
    /// Of a scenario with flows that are handed over as they end.
    pub fn new(scenario: &Scenario) -> Self {
        let flows = scenario.flows.len();
        let copies = scenario.switches.values().any(|switch| {
            let groups = switch.multicast_groups.len() + switch.clone_sessions.len();
            groups + switch.snoop.len() > 0
        });
        Ending {
            under_way: vec![0; if copies { 0 } else { flows }],
            over: vec![false; flows],
            ..Ending::default()
        }
    }

    /// A part of a divided network sees some packets only.
    pub fn forget_packets(&mut self) {
        self.under_way = Vec::new();
    }
}

impl Simulation {
    /// The records of flows that have ended since this was last called, with their numbers, in the order in which
    /// they ended. There are none unless the scenario asks for them (`record.flows_as_they_end`); what they do not
    /// have yet, [`Simulation::finish`] has.
    pub fn take_ended(&mut self) -> Vec<(usize, FlowRecord)> {
        let ending = self.ending.as_mut();
        ending.map_or_else(Vec::new, |ending| std::mem::take(&mut ending.ended))
    }

    /// A packet of a flow enters the network.
    pub(super) fn departs(&mut self, flow: usize) {
        let under_way = self.ending.as_mut().map(|ending| &mut ending.under_way);
        if let Some(count) = under_way.and_then(|under_way| under_way.get_mut(flow)) {
            *count += 1;
        }
    }

    /// A packet has arrived, or will not.
    pub(super) fn is_gone(&mut self, owner: usize) {
        let Some(ending) = &mut self.ending else {
            return;
        };
        if let Some(count) = ending.under_way.get_mut(owner) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                ending.quiet.push(owner);
            }
        }
    }

    /// After an event: lets the connections of flows go to which nothing can happen any more.
    pub(super) fn let_go(&mut self) {
        while let Some(flow) = self.ending.as_mut().and_then(|ending| ending.quiet.pop()) {
            if self.is_over(flow) {
                for side in [Side::Sender, Side::Receiver] {
                    self.ends[side.end(flow)] = Slot::Over;
                }
                self.hand_over(flow);
            }
        }
    }

    fn is_over(&mut self, flow: usize) -> bool {
        let Some(ending) = &self.ending else {
            return false;
        };
        let finished = self.traffic[flow].finished.is_some();
        if ending.over[flow] || ending.under_way[flow] > 0 || !finished {
            return false;
        }
        [Side::Sender, Side::Receiver]
            .into_iter()
            .all(|side| match &self.ends[side.end(flow)] {
                Slot::Unopened => false,
                Slot::Open(end) => end.connection.is_quiet() && end.is_recorded(),
                Slot::Over => true,
            })
    }

    fn hand_over(&mut self, flow: usize) {
        let mut record = std::mem::take(&mut self.traffic[flow]);
        record.fill(|| self.bins.flow_column());
        if let Some(ending) = &mut self.ending {
            ending.over[flow] = true;
            ending.ended.push((flow, record));
        }
    }

    /// At the end of a run: hands over what has not ended.
    pub(super) fn end_all(&mut self) {
        for flow in 0..self.flows.len() {
            if self
                .ending
                .as_ref()
                .is_some_and(|ending| !ending.over[flow])
            {
                self.hand_over(flow);
            }
        }
    }
}
