//! Runs a divided network in rounds. A round is as long as the least time that anything takes from one part to another.
//!
//! ```text
//!   each part:   events before the round's end ─► turns taken, packets sent ─┐
//!   the last:    ◄── all parts are there: numbers turns, sets the next end ─┘
//!   each part:   numbers for its turns arrive; accepts packets, checks losses
//! ```
//! Within a round no part can affect another: what it sends arrives in a later round. In the undivided network, events
//! take turns in the order of time and of the turns taken before. The last part to finish merges the logs of all parts
//! in that order, and each turn receives the number that it would have had. The order of events, and all results, are
//! therefore the same as with one thread.
//!
//! A thread may have several parts, which it runs in turn.

use super::gate::Gate;
use super::part::Parcel;
use super::plan::{Choice, Plan, Work, round_end};
use super::{MAX_PACKETS, RunError, Simulation};
use crate::event::{Took, Turn};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use units::Instant;

/// The results of a part in a round.
#[derive(Debug, Default)]
struct Report {
    log: Vec<Took>,
    /// Number of turns that it took.
    taken: u64,
    /// The global numbers of these turns.
    numbers: Vec<u64>,
    /// The time of its next event, as bits, including events of packets that it sends.
    next: u64,
    /// Events that it handled, and packets that it created since the start.
    events: u64,
    made: usize,
    parcels: Vec<Parcel>,
}

/// The state that threads share. Each part has two reports, for even and for odd rounds: a thread that has passed the
/// gate may write the next one while others still read.
struct Rounds {
    reports: [Vec<Mutex<Report>>; 2],
    gate: Gate,
    /// The end of the round, as bits.
    end: AtomicU64,
    /// Whether it was the last round.
    over: AtomicBool,
    state: Mutex<State>,
}

/// The state that the last thread of a round updates.
struct State {
    round: usize,
    /// Number of turns taken so far.
    turns: u64,
    /// Number of events that may be handled in total.
    events: u64,
    lookahead_s: f64,
    at: Instant,
    work: Work,
    outcome: Result<bool, RunError>,
}

impl Simulation {
    /// Like [`Simulation::run_to`], for a divided network.
    pub(super) fn run_parts(&mut self, at: Instant, events: u64) -> Result<bool, RunError> {
        let Some(plan) = &mut self.plan else {
            return Ok(false);
        };
        let rounds = Rounds::new(plan, self.turns, at, events, &mut self.parts);
        let count = self.parts.len().div_ceil(plan.chosen().workers);
        thread::scope(|scope| {
            let rounds = &rounds;
            let mut shares = self.parts.chunks_mut(count).zip((0..).step_by(count));
            let own = shares.next();
            for (parts, first) in shares {
                scope.spawn(move || rounds.work(first, parts, at));
            }
            if let Some((parts, first)) = own {
                rounds.work(first, parts, at);
            }
        });
        let state = rounds.state.into_inner();
        let state = state.unwrap_or_else(PoisonError::into_inner);
        self.turns = state.turns;
        plan.add(state.work);
        let ended = state.outcome?;
        let mut totals = super::Totals::default();
        for part in &self.parts {
            totals.add(&part.totals);
            self.now = self.now.max(part.now);
        }
        self.totals = totals;
        self.let_go_of_parts();
        if ended {
            self.now = self.now.max(at);
        }
        Ok(ended)
    }

    /// Fills in the report of a round.
    fn report(&mut self, report: &mut Report) {
        report.next = self.events.next_time();
        report.taken = self.events.end_round(&mut report.log);
        report.made = self.made.max(self.events.packets());
        if let Some(part) = &mut self.part {
            std::mem::swap(&mut part.outbox, &mut report.parcels);
            part.outbox
                .resize_with(report.parcels.len(), Parcel::default);
        }
        let sent = report.parcels.iter().map(Parcel::first_time).min();
        report.next = report.next.min(sent.unwrap_or(u64::MAX));
    }

    /// After a round, when turns have been numbered: accepts what all parts sent to this one.
    fn take_in(&mut self, index: usize, reports: &[Mutex<Report>]) {
        for (from, report) in reports.iter().enumerate() {
            let mut report = locked(report);
            let Report {
                numbers, parcels, ..
            } = &mut *report;
            match from == index {
                true => self.settle(numbers),
                false => self.accept(from, &mut parcels[index], numbers),
            }
        }
        self.judge_round();
    }

    /// Handles the events of a round.
    fn run_round(&mut self, end: u64, at: Instant) {
        self.events.begin_round(end, at);
        while let Some((turn, event)) = self.events.pop_in_round() {
            self.take(turn, turn.instant(), event);
            if self.is_full() {
                return;
            }
        }
    }
}

impl Rounds {
    fn new(plan: &Plan, turns: u64, at: Instant, events: u64, parts: &mut [Simulation]) -> Self {
        let next = parts.iter_mut().map(|part| part.events.next_time());
        let next = next.min().unwrap_or(u64::MAX);
        let Choice {
            places, workers, ..
        } = plan.chosen();
        let lookahead_s = places.lookahead_s;
        let reports = || parts.iter().map(|_| Mutex::default()).collect();
        // A thread has the same number of parts as the others, or the last has fewer.
        let threads = parts.len().div_ceil(parts.len().div_ceil(*workers));
        Rounds {
            reports: [reports(), reports()],
            gate: Gate::new(threads, plan.cores),
            end: AtomicU64::new(round_end(next, lookahead_s)),
            over: AtomicBool::new(false),
            state: Mutex::new(State {
                round: 0,
                turns,
                events,
                lookahead_s,
                at,
                work: Work::default(),
                outcome: Ok(false),
            }),
        }
    }

    /// Runs parts until all rounds are over. The first has the number `first`.
    fn work(&self, first: usize, parts: &mut [Simulation], at: Instant) {
        let _open = self.gate.open_on_panic();
        for round in 0.. {
            let reports = &self.reports[round % 2];
            for (part, report) in parts.iter_mut().zip(&reports[first..]) {
                let before = part.totals.events;
                part.run_round(self.end.load(Ordering::Acquire), at);
                let mut report = locked(report);
                part.report(&mut report);
                report.events = part.totals.events - before;
            }
            if !self.gate.pass(|| self.merge()) {
                return;
            }
            for (index, part) in (first..).zip(&mut *parts) {
                part.take_in(index, reports);
            }
            if self.over.load(Ordering::Acquire) {
                return;
            }
        }
    }

    /// Called when all parts have finished the round: numbers their turns, and sets the end of the next round.
    fn merge(&self) {
        let mut state = locked(&self.state);
        let reports = &self.reports[state.round % 2];
        let mut reports: Vec<MutexGuard<'_, Report>> = reports.iter().map(locked).collect();
        let mut reports: Vec<&mut Report> =
            reports.iter_mut().map(|report| &mut **report).collect();
        state.turns = number(&mut reports, state.turns);
        state.round += 1;
        let next = reports.iter().map(|report| report.next).min();
        let next = next.unwrap_or(u64::MAX);
        let events = reports.iter().map(|report| report.events);
        state.work.add_round(events);
        let made: usize = reports.iter().map(|report| report.made).sum();
        let ended = next == u64::MAX || Instant::from_secs_f64(f64::from_bits(next)) >= state.at;
        if made > MAX_PACKETS {
            state.outcome = Err(RunError::Packets);
            self.over.store(true, Ordering::Release);
        } else if ended || state.work.events >= state.events {
            state.outcome = Ok(ended);
            self.over.store(true, Ordering::Release);
        }
        let end = round_end(next, state.lookahead_s);
        self.end.store(end, Ordering::Release);
    }
}

/// Numbers the turns that parts took in a round, from `turns` on. Returns the new number of turns.
fn number(reports: &mut [&mut Report], mut turns: u64) -> u64 {
    /// The next event in the log of a part.
    struct Head {
        part: usize,
        entry: usize,
        turn: Turn,
    }
    let mut heads: Vec<Head> = Vec::new();
    for (part, report) in reports.iter_mut().enumerate() {
        report.numbers.clear();
        if let Some(first) = report.log.first() {
            // The first event was scheduled before the round.
            heads.push(Head {
                part,
                entry: 0,
                turn: first.turn,
            });
        }
    }
    while !heads.is_empty() {
        let (mut least, mut limit) = (0, None::<Turn>);
        for (index, head) in heads.iter().enumerate().skip(1) {
            if head.turn < heads[least].turn {
                limit = Some(heads[least].turn);
                least = index;
            } else if limit.is_none_or(|limit| head.turn < limit) {
                limit = Some(head.turn);
            }
        }
        let head = &mut heads[least];
        let report = &mut *reports[head.part];
        // One part often has many consecutive events.
        loop {
            let after = report.log.get(head.entry + 1).map(|next| next.before);
            let taken = after.unwrap_or(report.taken) - report.log[head.entry].before;
            report.numbers.extend(turns..turns + taken);
            turns += taken;
            head.entry += 1;
            let Some(next) = report.log.get(head.entry) else {
                heads.swap_remove(least);
                break;
            };
            // An event that was scheduled in this round follows its scheduler in the same log.
            head.turn = next.turn.numbered(&report.numbers);
            if limit.is_some_and(|limit| limit < head.turn) {
                break;
            }
        }
    }
    turns
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
