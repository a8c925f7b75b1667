//! Flows that have ended: their connections are freed, and their records returned.
//!
//! An end is freed independently of the other when its connection is closed, because it no longer answers. The other
//! end of a flow between today's hosts stays in TIME-WAIT for a minute. It is freed when none of the flow's packets is
//! in flight, because nothing can reach it then. This is only known if no switch copies packets.
//!
//! Nothing happens to a flow that is over. Its last event is therefore the event at which it was over, whether this is
//! detected at once or, in a divided network, some rounds later. Flows are returned in the order of these events.

use super::Simulation;
use crate::event::{Event, Turn};
use crate::flow::{Side, Slot};
use crate::record::FlowRecord;
use crate::scenario::Scenario;
use std::collections::BTreeMap;

/// The state of ended flows, if flows are returned as they end.
#[derive(Debug, Default)]
pub(super) struct Ending {
    /// For each flow, the number of its packets in flight. Empty if unknown. In a part of a divided network: the
    /// packets that departed there minus those that ended there.
    under_way: Vec<i32>,
    /// For each flow, whether its record has been returned. Unknown in a part.
    over: Vec<bool>,
    /// Flows for which the current event may have been the last.
    touched: Vec<usize>,
    /// In a part: the touched flows of the round, with the turns of the events.
    in_round: Vec<(Turn, usize)>,
    /// In a part: for each flow, the last of these turns since all parts were last stopped.
    last: BTreeMap<usize, Turn>,
    ended: Vec<(usize, FlowRecord)>,
}

impl Ending {
    /// Creates the state for a scenario in which flows are returned as they end.
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

    /// The state of each part. The first takes over the counts of packets in flight.
    pub fn split(&mut self, parts: usize) -> impl Iterator<Item = Ending> + use<> {
        let under_way = std::mem::take(&mut self.under_way);
        let others = vec![vec![0; under_way.len()]; parts - 1];
        let all = std::iter::once(under_way).chain(others);
        all.map(|under_way| Ending {
            under_way,
            ..Ending::default()
        })
    }

    /// Adds the counts of a part.
    pub fn unite(&mut self, part: Ending) {
        self.under_way.resize(part.under_way.len(), 0);
        for (sum, more) in self.under_way.iter_mut().zip(part.under_way) {
            *sum += more;
        }
    }

    /// After a round: assigns global numbers to its turns.
    pub fn number(&mut self, numbers: &[u64]) {
        for (turn, flow) in self.in_round.drain(..) {
            self.last.insert(flow, turn.numbered(numbers));
        }
    }
}

impl Simulation {
    /// Returns the records of flows that have ended since the last call, with their numbers, in the order in which they
    /// ended. Empty unless the scenario sets `record.flows_as_they_end`. Flows that have not ended are returned by
    /// [`Simulation::finish`].
    pub fn take_ended(&mut self) -> Vec<(usize, FlowRecord)> {
        let ending = self.ending.as_mut();
        ending.map_or_else(Vec::new, |ending| std::mem::take(&mut ending.ended))
    }

    /// Counts a packet of a flow that enters the network.
    pub(super) fn departs(&mut self, flow: usize) {
        let under_way = self.ending.as_mut().map(|ending| &mut ending.under_way);
        if let Some(count) = under_way.and_then(|under_way| under_way.get_mut(flow)) {
            *count += 1;
        }
    }

    /// Counts a packet that has arrived or will not arrive.
    pub(super) fn is_gone(&mut self, owner: usize) {
        let Some(ending) = &mut self.ending else {
            return;
        };
        if let Some(count) = ending.under_way.get_mut(owner) {
            *count -= 1;
            if *count == 0 || self.part.is_some() {
                ending.touched.push(owner);
            }
        }
    }

    /// Records that an end of a flow no longer waits for anything.
    pub(super) fn is_quiet(&mut self, flow: usize) {
        if let Some(ending) = self.ending.as_mut().filter(|e| !e.under_way.is_empty()) {
            ending.touched.push(flow);
        }
    }

    /// Whether an event is a timer of an end that only waits to forget the other end, if flows are returned as they
    /// end. Such timers are not counted, because whether they occur depends on when the end is freed.
    pub(super) fn is_of_quiet_end(&self, event: &Event) -> bool {
        let &Event::Timer { flow, receiver } = event else {
            return false;
        };
        if self.ending.is_none() {
            return false;
        }
        let side = if receiver {
            Side::Receiver
        } else {
            Side::Sender
        };
        match &self.ends[side.end(flow as usize)] {
            Slot::Unopened => false,
            Slot::Open(end) => end.connection.is_quiet(),
            Slot::Over => true,
        }
    }

    /// Called after an event: frees the connections of flows for which nothing can happen any more.
    pub(super) fn let_go(&mut self) {
        let Some(ending) = &mut self.ending else {
            return;
        };
        if ending.touched.is_empty() {
            return;
        }
        let mut touched = std::mem::take(&mut ending.touched);
        if self.part.is_some() {
            let turns = touched.drain(..).map(|flow| (self.turn, flow));
            ending.in_round.extend(turns);
        } else {
            touched.sort_unstable();
            for flow in touched.drain(..) {
                if self.is_over(flow) {
                    self.end_flow(flow);
                }
            }
        }
        if let Some(ending) = &mut self.ending {
            ending.touched = touched;
        }
    }

    /// Like [`Simulation::let_go`], while all parts of a divided network are stopped.
    pub(super) fn let_go_of_parts(&mut self) {
        let mut last = BTreeMap::<usize, Turn>::new();
        for ending in self
            .parts
            .iter_mut()
            .filter_map(|part| part.ending.as_mut())
        {
            for (flow, turn) in std::mem::take(&mut ending.last) {
                let latest = last.entry(flow).or_default();
                *latest = turn.max(*latest);
            }
        }
        let over = last.into_iter().filter(|&(flow, _)| self.is_over(flow));
        let mut over: Vec<(Turn, usize)> = over.map(|(flow, turn)| (turn, flow)).collect();
        over.sort_unstable();
        for (_, flow) in over {
            self.end_flow(flow);
        }
    }

    fn is_over(&self, flow: usize) -> bool {
        let known = self.ending.as_ref();
        if known.is_none_or(|ending| ending.over[flow]) {
            return false;
        }
        let pieces = self.pieces();
        let endings = pieces.iter().filter_map(|piece| piece.ending.as_ref());
        let under_way: i32 = endings.map(|ending| ending.under_way[flow]).sum();
        let finished = |piece: &Simulation| piece.traffic[flow].finished.is_some();
        if under_way > 0 || !pieces.iter().any(finished) {
            return false;
        }
        [Side::Sender, Side::Receiver].into_iter().all(|side| {
            let slot = pieces.iter().find_map(|one| one.ends.get(side.end(flow)));
            slot.is_some_and(|slot| match slot {
                Slot::Unopened => false,
                Slot::Open(end) => end.connection.is_quiet() && end.is_recorded(),
                Slot::Over => true,
            })
        })
    }

    /// The parts, or the network itself if it is not divided.
    fn pieces(&self) -> &[Simulation] {
        match &self.parts[..] {
            [] => std::slice::from_ref(self),
            parts => parts,
        }
    }

    fn pieces_mut(&mut self) -> &mut [Simulation] {
        match self.parts.is_empty() {
            true => std::slice::from_mut(self),
            false => &mut self.parts,
        }
    }

    fn end_flow(&mut self, flow: usize) {
        for piece in self.pieces_mut() {
            for side in [Side::Sender, Side::Receiver] {
                if let Some(slot) = piece.ends.get_mut(side.end(flow)) {
                    *slot = Slot::Over;
                }
            }
        }
        self.hand_over(flow);
    }

    fn hand_over(&mut self, flow: usize) {
        let records = self.pieces_mut().iter_mut();
        let mut records = records.map(|piece| std::mem::take(&mut piece.traffic[flow]));
        let mut record = records.next().unwrap_or_default();
        records.for_each(|more| record.add(more));
        record.fill(|| self.bins.flow_column());
        if let Some(ending) = &mut self.ending {
            ending.over[flow] = true;
            ending.ended.push((flow, record));
        }
    }

    /// At the end of a run: ends all remaining flows.
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
