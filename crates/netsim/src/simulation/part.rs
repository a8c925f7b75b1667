//! A part of a divided network: what it exchanges with the others after each round.

use super::Simulation;
use super::places::Places;
use crate::event::{Event, Turn};
use crate::losses::{Judgement, Place};
use engine::{Octets, Packet};
use std::sync::Arc;

/// What a part knows about the others.
#[derive(Debug)]
pub(super) struct Part {
    /// Its number.
    index: usize,
    /// The assignment of items to parts.
    places: Arc<Places>,
    /// For each part, what is sent to it after the round.
    pub outbox: Vec<Parcel>,
    /// Ends that have taken a turn for a timer in the round.
    pub timers: Vec<usize>,
    /// Classifications and losses of the round, with the turn of the event, for flows whose sender is here.
    verdicts: Vec<(Turn, usize, Verdict)>,
}

/// What one part sends to another after a round.
#[derive(Debug, Default)]
pub(super) struct Parcel {
    /// Packets that arrive on lines.
    packets: Vec<(Turn, u32, Packet)>,
    /// Segments that were lost.
    verdicts: Vec<(Turn, usize, Verdict)>,
    /// Buffers, in exchange for packets received.
    buffers: Vec<Octets>,
}

/// The input for checking a sender's classification, in the order of turns.
#[derive(Clone, Copy, Debug)]
enum Verdict {
    Lost(u32, Place),
    Judged(Judgement),
}

impl Part {
    pub fn new(index: usize, places: Arc<Places>) -> Self {
        Part {
            index,
            outbox: (0..places.parts).map(|_| Parcel::default()).collect(),
            places,
            timers: Vec::new(),
            verdicts: Vec::new(),
        }
    }

    /// Whether a line leads to another part.
    pub fn is_elsewhere(&self, line: usize) -> bool {
        self.places.destinations[line] as usize != self.index
    }

    /// Sends a packet to the part at the end of a line.
    pub fn hand_over(&mut self, turn: Turn, line: usize, packet: Packet) {
        let to = self.places.destinations[line] as usize;
        self.outbox[to].packets.push((turn, line as u32, packet));
    }

    /// Records a sender's classification of losses.
    pub fn judge(&mut self, turn: Turn, flow: usize, judgement: Judgement) {
        self.verdicts.push((turn, flow, Verdict::Judged(judgement)));
    }

    /// Records the loss of a segment of a flow.
    pub fn lose(&mut self, turn: Turn, flow: usize, sequence: u32, place: Place) {
        let lost = (turn, flow, Verdict::Lost(sequence, place));
        match self.places.of_sender(flow) {
            here if here == self.index => self.verdicts.push(lost),
            there => self.outbox[there].verdicts.push(lost),
        }
    }
}

impl Parcel {
    /// The earliest time of its packets, as bits.
    pub fn first_time(&self) -> u64 {
        let times = self.packets.iter().map(|(turn, ..)| turn.time());
        times.min().unwrap_or(u64::MAX)
    }
}

impl Simulation {
    /// After a round: assigns global numbers to the turns of this part.
    pub(super) fn settle(&mut self, numbers: &[u64]) {
        self.events.number(numbers);
        if let Some(ending) = &mut self.ending {
            ending.number(numbers);
        }
        let Some(part) = &mut self.part else {
            return;
        };
        for index in part.timers.drain(..) {
            let Some(end) = self.ends[index].open() else {
                continue;
            };
            if let Some((_, turn)) = &mut end.timer {
                *turn = turn.numbered(numbers);
            }
            end.wake = end.wake.map(|turn| turn.numbered(numbers));
        }
        for (turn, ..) in &mut part.verdicts {
            *turn = turn.numbered(numbers);
        }
        for check in [&mut self.check_aqt, &mut self.check_ci] {
            for turn in check.iter_mut().flat_map(|check| &mut check.turns) {
                *turn = turn.numbered(numbers);
            }
        }
    }

    /// After a round: accepts what another part sent. `numbers` are for the turns of that part.
    pub(super) fn accept(&mut self, from: usize, parcel: &mut Parcel, numbers: &[u64]) {
        let Some(part) = &mut self.part else {
            return;
        };
        self.buffers.append(&mut parcel.buffers);
        let came = parcel.packets.len();
        for (turn, line, packet) in parcel.packets.drain(..) {
            debug_assert!(turn.time() >= self.turn.time(), "a round was too long");
            let packet = self.events.in_flight.put(packet);
            let arrive = Event::Arrive { line, packet };
            self.events.put(turn.numbered(numbers), arrive);
        }
        // Otherwise the buffers of one-way traffic would accumulate where it ends.
        let spare = self.buffers.len() - self.buffers.len().min(came);
        part.outbox[from]
            .buffers
            .extend(self.buffers.drain(spare..));
        for (turn, flow, verdict) in parcel.verdicts.drain(..) {
            let turn = turn.numbered(numbers);
            part.verdicts.push((turn, flow, verdict));
        }
    }

    /// After a round, when the parcels of all other parts were accepted: checks classifications, in order.
    pub(super) fn judge_round(&mut self) {
        let Some(part) = &mut self.part else {
            return;
        };
        if part.verdicts.is_empty() {
            return;
        }
        let mut verdicts = std::mem::take(&mut part.verdicts);
        // The sort is stable: items of one event keep their order.
        verdicts.sort_by_key(|(turn, ..)| *turn);
        for (_, flow, verdict) in verdicts.drain(..) {
            match verdict {
                Verdict::Lost(sequence, place) => self.note_lost(flow, sequence, place),
                Verdict::Judged(judgement) => {
                    let sender = self.ends[crate::flow::Side::Sender.end(flow)].open();
                    if let Some(losses) = sender.and_then(|end| end.losses.as_mut()) {
                        losses.judge(judgement);
                    }
                }
            }
        }
        if let Some(part) = &mut self.part {
            part.verdicts = verdicts;
        }
    }
}
