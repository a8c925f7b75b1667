//! A part of a divided network: what it owes to the others after each round.

use super::Simulation;
use super::places::Places;
use crate::event::{Event, Turn};
use crate::losses::{Judgement, Place};
use engine::{Octets, Packet};
use std::sync::Arc;

/// What a part knows of the others.
#[derive(Debug)]
pub(super) struct Part {
    /// Its number.
    index: usize,
    /// Which part has what.
    places: Arc<Places>,
    /// For each part, what goes there after the round.
    pub outbox: Vec<Parcel>,
    /// Ends that have taken a turn for a timer in the round.
    pub timers: Vec<usize>,
    /// What was judged in the round, or lost, with the turn of the event, for the flow's sender here.
    verdicts: Vec<(Turn, usize, Verdict)>,
}

/// What goes from one part to another after a round.
#[derive(Debug, Default)]
pub(super) struct Parcel {
    /// Packets that arrive on lines.
    packets: Vec<(Turn, u32, Packet)>,
    /// Segments that were lost.
    verdicts: Vec<(Turn, usize, Verdict)>,
    /// Buffers, for packets that came.
    buffers: Vec<Octets>,
}

/// What a sender's judge takes in, in the order of turns.
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

    /// Sends a packet to the part that a line leads to.
    pub fn hand_over(&mut self, turn: Turn, line: usize, packet: Packet) {
        let to = self.places.destinations[line] as usize;
        self.outbox[to].packets.push((turn, line as u32, packet));
    }

    /// A sender judged losses.
    pub fn judge(&mut self, turn: Turn, flow: usize, judgement: Judgement) {
        self.verdicts.push((turn, flow, Verdict::Judged(judgement)));
    }

    /// A segment of a flow was lost here.
    pub fn lose(&mut self, turn: Turn, flow: usize, sequence: u32, place: Place) {
        let lost = (turn, flow, Verdict::Lost(sequence, place));
        match self.places.of_sender(flow) {
            here if here == self.index => self.verdicts.push(lost),
            there => self.outbox[there].verdicts.push(lost),
        }
    }
}

impl Parcel {
    /// The earliest time of a packet in it, as bits.
    pub fn first_time(&self) -> u64 {
        let times = self.packets.iter().map(|(turn, ..)| turn.time());
        times.min().unwrap_or(u64::MAX)
    }
}

impl Simulation {
    /// After a round: turns that this part took get their numbers among all.
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

    /// After a round: takes in what another part sent; `numbers` are of that part's turns.
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
        // Else the buffers of one-way traffic would gather where it ends.
        let spare = self.buffers.len() - self.buffers.len().min(came);
        part.outbox[from]
            .buffers
            .extend(self.buffers.drain(spare..));
        for (turn, flow, verdict) in parcel.verdicts.drain(..) {
            let turn = turn.numbered(numbers);
            part.verdicts.push((turn, flow, verdict));
        }
    }

    /// After a round, when all other parts' were taken in: losses meet their judges, in order.
    pub(super) fn judge_round(&mut self) {
        let Some(part) = &mut self.part else {
            return;
        };
        if part.verdicts.is_empty() {
            return;
        }
        let mut verdicts = std::mem::take(&mut part.verdicts);
        // It is stable: what happened in one event stays in order.
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
