//! Decides whether a network is divided among threads: only while its rounds have enough events to be worthwhile.
//!
//! Threads wait for each other after each round. What that costs follows from events alone, so that a run
//! is divided at the same events again: those of the network, those of the part that has most in each round, and the
//! rounds. While the network is not divided, they are counted for each possible division: among the requested number of
//! threads, half as many, and so on. The division with the most threads that is worthwhile is used.

use super::places::Places;
use super::{RunError, Simulation};
use crate::event::{Event, Turn};
use std::num::NonZero;
use std::sync::Arc;
use std::thread;
use units::Instant;

/// Overhead of a round per thread, in units of the time of one event. In a fat-tree with k = 4, two threads take
/// twice as long as one.
const ROUND: u64 = 12;
/// The network is divided if threads take at most this percentage of the processor time of one thread. The actual
/// percentage is lower, because the data of a part fits better into a cache.
const DIVIDE: u64 = 135;
/// It stays divided up to this percentage.
const STAY: u64 = 150;
/// The minimum number of events between decisions.
const STRETCH: u64 = 1 << 14;

/// How a network is divided, and when.
#[derive(Debug)]
pub(super) struct Plan {
    /// The ways to divide it, most threads first.
    choices: Vec<Choice>,
    /// Index of the choice in use, or of the last one that was used.
    chosen: usize,
    /// Cores that there are for the threads.
    pub cores: usize,
    /// Whether it is always divided, regardless of the cost.
    always: bool,
    /// Number of events between decisions.
    stretch: u64,
    /// Number of stretches on fewer threads than requested, until the choice is reconsidered. It doubles each time.
    recount: u32,
    /// Remaining stretches until then.
    left: u32,
    /// Number of events while the network was not divided.
    whole: u64,
}

/// A way to divide a network.
#[derive(Debug)]
pub(super) struct Choice {
    pub places: Arc<Places>,
    /// Threads that run the parts.
    pub workers: usize,
    /// Since the last decision.
    work: Work,
    present: Present,
    /// Number of events while the network was divided in this way.
    events: u64,
}

/// The work of rounds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Work {
    pub rounds: u64,
    pub events: u64,
    /// Sum over rounds of the events of the busiest part.
    pub longest: u64,
}

/// The round that would be in progress if the network were divided.
#[derive(Debug, Default)]
struct Present {
    /// The end of the round, as bits.
    end: u64,
    /// Events of each part.
    events: Vec<u64>,
}

impl Work {
    pub fn add_round(&mut self, events: impl Iterator<Item = u64> + Clone) {
        self.rounds += 1;
        self.events += events.clone().sum::<u64>();
        self.longest += events.max().unwrap_or(0);
    }

    /// Whether `threads` threads take at most `percent` percent of the processor time of one thread.
    fn pays(&self, threads: u64, percent: u64) -> bool {
        100 * threads * (self.longest + ROUND * self.rounds) <= percent * self.events
    }
}

/// The end of a round whose first event is at `next`, as bits.
pub(super) fn round_end(next: u64, lookahead_s: f64) -> u64 {
    match next {
        u64::MAX => next,
        _ => (f64::from_bits(next) + lookahead_s).to_bits(),
    }
}

impl Choice {
    fn new(places: Places, workers: usize) -> Self {
        Choice {
            present: Present {
                end: 0,
                events: vec![0; places.parts],
            },
            places: Arc::new(places),
            workers,
            work: Work::default(),
            events: 0,
        }
    }

    /// An event happens at `time` while the network is not divided.
    fn note(&mut self, time: u64, event: &Event) {
        if time >= self.present.end {
            self.end_round();
            self.present.end = round_end(time, self.places.lookahead_s);
        }
        let [part, _] = self.places.of_event(event);
        self.present.events[part as usize] += 1;
    }

    fn end_round(&mut self) {
        let events = &mut self.present.events;
        if events.iter().any(|events| *events > 0) {
            self.work.add_round(events.iter().copied());
            events.fill(0);
        }
    }
}

impl Plan {
    /// A network with so many `things` is divided by the first of `ways` that pays: places for its parts, and threads.
    pub fn new(ways: Vec<(Places, usize)>, always: bool, things: usize) -> Self {
        let choices = ways.into_iter();
        Plan {
            choices: choices
                .map(|(places, workers)| Choice::new(places, workers))
                .collect(),
            chosen: 0,
            cores: thread::available_parallelism().map_or(1, NonZero::get),
            always,
            // Dividing a network takes time for each thing in it.
            stretch: STRETCH.max(things as u64),
            recount: 1,
            left: 0,
            whole: 0,
        }
    }

    /// How the network is divided, or was at last.
    pub fn chosen(&self) -> &Choice {
        &self.choices[self.chosen]
    }

    /// An event happens while the network is not divided.
    pub fn note(&mut self, turn: Turn, event: &Event) {
        // Lines are free at events of their own in a divided network only.
        if matches!(event, Event::LineFree(_)) {
            return;
        }
        self.whole += 1;
        for choice in &mut self.choices {
            choice.note(turn.time(), event);
        }
    }

    /// Adds the work of rounds.
    pub fn add(&mut self, work: Work) {
        let choice = &mut self.choices[self.chosen];
        choice.events += work.events;
        choice.work.rounds += work.rounds;
        choice.work.events += work.events;
        choice.work.longest += work.longest;
    }

    /// How the network was divided while most events happened, as the number of the way; `None`: it was not.
    pub fn mostly(&self) -> Option<usize> {
        let divided: u64 = self.choices.iter().map(|choice| choice.events).sum();
        if !self.always && self.whole >= divided {
            return None;
        }
        // Of equals, the last: that with the most threads.
        (0..self.choices.len())
            .rev()
            .max_by_key(|&choice| self.choices[choice].events)
    }

    /// The number of parts of a way to divide the network.
    pub fn parts(&self, choice: usize) -> usize {
        self.choices[choice].places.parts
    }

    /// Decides after a stretch whether to divide the network from now on. Returns `None` for no change. `is_divided` is
    /// the current state.
    fn decide(&mut self, is_divided: bool) -> Option<bool> {
        if self.always {
            return (!is_divided).then_some(true);
        }
        match is_divided {
            true => self.is_over().then_some(false),
            false => self.choose().then_some(true),
        }
    }

    /// Chooses the most threads that pay, after a stretch.
    fn choose(&mut self) -> bool {
        if self.choices[0].work.events < self.stretch {
            return false;
        }
        let mut choices = self.choices.iter();
        let pays = choices.position(|choice| choice.work.pays(choice.workers as u64, DIVIDE));
        for choice in &mut self.choices {
            choice.work = Work::default();
        }
        self.chosen = pays.unwrap_or(self.chosen);
        self.left = self.recount;
        pays.is_some()
    }

    /// Whether the network is no longer to be divided as it is, after a stretch.
    fn is_over(&mut self) -> bool {
        let choice = &mut self.choices[self.chosen];
        if choice.work.events < self.stretch {
            return false;
        }
        let work = std::mem::take(&mut choice.work);
        if !work.pays(choice.workers as u64, STAY) {
            // Where this changes again and again, it changes less often.
            self.stretch *= 2;
            return true;
        }
        if self.chosen == 0 {
            return false;
        }
        self.left -= 1;
        let recount = self.left == 0;
        if recount {
            self.recount = self.recount.saturating_mul(2);
        }
        recount
    }
}

impl Simulation {
    /// Like [`Simulation::run_to`], for a network that is divided while that is worthwhile.
    pub(super) fn run_planned(&mut self, at: Instant, events: u64) -> Result<bool, RunError> {
        let mut left = events;
        loop {
            self.follow_plan();
            let Some(plan) = &self.plan else {
                return self.run_whole(at, left);
            };
            let stretch = match plan.always {
                true => left,
                false => left.min(plan.stretch),
            };
            let ended = match self.parts.is_empty() {
                true => self.run_whole(at, stretch)?,
                false => self.run_parts(at, stretch)?,
            };
            left -= stretch;
            if ended || left == 0 {
                return Ok(ended);
            }
        }
    }

    /// Divides or reunites the network, if a decision is due.
    fn follow_plan(&mut self) {
        let is_divided = !self.parts.is_empty();
        let Some(plan) = &mut self.plan else {
            return;
        };
        match plan.decide(is_divided) {
            Some(true) => {
                let places = plan.chosen().places.clone();
                self.split(&places);
            }
            Some(false) => self.unite(),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_of_many_events_in_all_parts_pay() {
        let work = |parts: [u64; 2]| {
            let mut work = Work::default();
            (0..10).for_each(|_| work.add_round(parts.into_iter()));
            work
        };
        assert!(work([500, 500]).pays(2, DIVIDE));
        assert!(!work([900, 100]).pays(2, DIVIDE), "one part has most");
        assert!(!work([5, 5]).pays(2, DIVIDE), "rounds are short");
    }
}
