//! A divided network runs: rounds of as much time as anything takes from one part to another.
//!
//! ```text
//!   each part:   events before the round's end ─► what they took and sent ─┐
//!   the last:    ◄── all parts are there: numbers turns, sets the next end ─┘
//!   each part:   its turns get their numbers, packets come in, losses are judged
//! ```
//! Within a round no part can reach another: what it sends arrives in a later one. In the undivided network, events
//! take turns in the order of time and of turns taken before; the last part merges the logs of all parts in
//! that order, and every turn gets the number that it would have had. So the order of events, and all
//! results, are those of one thread.

use super::part::Parcel;
use super::{MAX_PACKETS, RunError, Simulation};
use crate::event::{Took, Turn};
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use units::Instant;

/// Looks at the gate before a thread sleeps: some tens of microseconds.
const LOOKS: u32 = 4000;

/// What a part has to show after a round.
#[derive(Debug, Default)]
struct Report {
    log: Vec<Took>,
    /// Turns that it took.
    taken: u64,
    /// Their numbers among all.
    numbers: Vec<u64>,
    /// When its next event comes, as bits; also of what it sends.
    next: u64,
    /// Events that it took since the start, and packets that it made.
    events: u64,
    made: usize,
    parcels: Vec<Parcel>,
}

/// What the threads share. Reports are two for each part, for even and for odd rounds: who is through the gate
/// may write the next while others still read.
struct Rounds {
    reports: [Vec<Mutex<Report>>; 2],
    gate: Gate,
    /// When the round ends, as bits.
    end: AtomicU64,
    /// It was the last.
    over: AtomicBool,
    state: Mutex<State>,
}

/// What the last of a round keeps.
struct State {
    round: usize,
    /// Turns taken so far.
    turns: u64,
    /// Events that may be taken in all.
    events: u64,
    lookahead_s: f64,
    at: Instant,
    outcome: Result<bool, RunError>,
}

impl Simulation {
    /// As [`Simulation::run_to`], of a network that is divided.
    pub(super) fn run_parts(&mut self, at: Instant, events: u64) -> Result<bool, RunError> {
        let count = self.parts.len();
        let taken: u64 = self.parts.iter().map(|part| part.totals.events).sum();
        let next = self.parts.iter_mut().map(|part| part.events.next_time());
        let next = next.min().unwrap_or(u64::MAX);
        let lookahead_s = self.lookahead_s;
        let reports = || (0..count).map(|_| Mutex::default()).collect();
        let rounds = Rounds {
            reports: [reports(), reports()],
            gate: Gate::new(count),
            end: AtomicU64::new(round_end(next, lookahead_s)),
            over: AtomicBool::new(false),
            state: Mutex::new(State {
                round: 0,
                turns: self.turns,
                events: taken.saturating_add(events),
                lookahead_s,
                at,
                outcome: Ok(false),
            }),
        };
        thread::scope(|scope| {
            let mut parts = self.parts.iter_mut().enumerate();
            let own = parts.next();
            for (index, part) in parts {
                let rounds = &rounds;
                scope.spawn(move || rounds.work(index, part, at));
            }
            if let Some((index, part)) = own {
                rounds.work(index, part, at);
            }
        });
        let state = rounds
            .state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        self.turns = state.turns;
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

    /// Takes the events of a round.
    fn run_round(&mut self, end: u64, at: Instant) {
        self.events.begin_round(end, at);
        while let Some((turn, event)) = self.events.pop_in_round() {
            self.take(turn, event);
            if self.is_full() {
                return;
            }
        }
    }
}

/// The end of a round whose first event is at `next`, as bits.
fn round_end(next: u64, lookahead_s: f64) -> u64 {
    match next {
        u64::MAX => next,
        _ => (f64::from_bits(next) + lookahead_s).to_bits(),
    }
}

impl Rounds {
    fn work(&self, index: usize, part: &mut Simulation, at: Instant) {
        let _open = self.gate.open_on_panic();
        for round in 0.. {
            part.run_round(self.end.load(Ordering::Acquire), at);
            let reports = &self.reports[round % 2];
            {
                let mut report = locked(&reports[index]);
                let report = &mut *report;
                report.next = part.events.next_time();
                report.taken = part.events.end_round(&mut report.log);
                report.events = part.totals.events;
                report.made = part.made.max(part.in_flight.most());
                if let Some(own) = &mut part.part {
                    std::mem::swap(&mut own.outbox, &mut report.parcels);
                    own.outbox.resize_with(self.gate.count, Parcel::default);
                }
                let sent = report.parcels.iter().map(Parcel::first_time).min();
                report.next = report.next.min(sent.unwrap_or(u64::MAX));
            }
            if !self.gate.pass(|| self.merge()) {
                return;
            }
            for (from, report) in reports.iter().enumerate() {
                let mut report = locked(report);
                let Report {
                    numbers, parcels, ..
                } = &mut *report;
                match from == index {
                    true => part.settle(numbers),
                    false => part.accept(from, &mut parcels[index], numbers),
                }
            }
            part.judge_round();
            if self.over.load(Ordering::Acquire) {
                return;
            }
        }
    }

    /// All parts have ended the round: numbers the turns that they took, and sets the next round's end.
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
        let events: u64 = reports.iter().map(|report| report.events).sum();
        let made: usize = reports.iter().map(|report| report.made).sum();
        let ended = next == u64::MAX || Instant::from_secs_f64(f64::from_bits(next)) >= state.at;
        if made > MAX_PACKETS {
            state.outcome = Err(RunError::Packets);
            self.over.store(true, Ordering::Release);
        } else if ended || events >= state.events {
            state.outcome = Ok(ended);
            self.over.store(true, Ordering::Release);
        }
        let end = round_end(next, state.lookahead_s);
        self.end.store(end, Ordering::Release);
    }
}

/// Gives the turns that parts took in a round their numbers, from `turns` on; how many there are now.
fn number(reports: &mut [&mut Report], mut turns: u64) -> u64 {
    /// A part's next event in its log.
    struct Head {
        part: usize,
        entry: usize,
        turn: Turn,
    }
    let mut heads: Vec<Head> = Vec::new();
    for (part, report) in reports.iter_mut().enumerate() {
        report.numbers.clear();
        if let Some(first) = report.log.first() {
            // The first was scheduled before the round.
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
        // One part often has many events in turn.
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
            // Who scheduled it in this round came before it in the same log.
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

/// Where threads wait for each other.
struct Gate {
    count: usize,
    /// How often a thread looks before it sleeps: not at all where threads share cores.
    looks: u32,
    arrived: AtomicUsize,
    /// How often it has opened.
    opened: AtomicUsize,
    /// A thread panicked: nobody waits any more.
    broken: AtomicBool,
    asleep: Mutex<()>,
    wake: Condvar,
}

/// Lets all others through when its thread panics.
struct OpenOnPanic<'a>(&'a Gate);

impl Drop for OpenOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.broken.store(true, Ordering::Release);
            self.0.open();
        }
    }
}

impl Gate {
    fn new(count: usize) -> Self {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        Gate {
            count,
            looks: if count <= cores { LOOKS } else { 0 },
            arrived: AtomicUsize::new(0),
            opened: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
            asleep: Mutex::new(()),
            wake: Condvar::new(),
        }
    }

    fn open_on_panic(&self) -> OpenOnPanic<'_> {
        OpenOnPanic(self)
    }

    fn open(&self) {
        let asleep = locked(&self.asleep);
        self.opened.fetch_add(1, Ordering::Release);
        drop(asleep);
        self.wake.notify_all();
    }

    /// Waits until all threads are here. The last calls `lead` before it opens. Returns whether the run continues.
    fn pass(&self, lead: impl FnOnce()) -> bool {
        let opened = self.opened.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.count {
            lead();
            self.arrived.store(0, Ordering::Release);
            self.open();
            return !self.broken.load(Ordering::Acquire);
        }
        for _ in 0..self.looks {
            if self.opened.load(Ordering::Acquire) != opened {
                return !self.broken.load(Ordering::Acquire);
            }
            std::hint::spin_loop();
        }
        let mut asleep = locked(&self.asleep);
        while self.opened.load(Ordering::Acquire) == opened {
            asleep = self
                .wake
                .wait(asleep)
                .unwrap_or_else(PoisonError::into_inner);
        }
        !self.broken.load(Ordering::Acquire)
    }
}
