//! Whether a network is divided among threads: while its rounds have enough events to pay for it.
//!
//! Threads wait for each other after each round. What that costs follows from events alone, so that a run
//! is divided at the same events again: those of the network, those of the part that has most in each round, and the
//! rounds. While the network is not divided they are counted as they would be.

use super::places::Places;
use super::{RunError, Simulation};
use crate::event::{Event, Turn};
use std::num::NonZero;
use std::sync::Arc;
use std::thread;
use units::Instant;

/// What a round costs each thread beside its events, in the time of an event: in a fat-tree with k = 4, two threads
/// take twice as long as one.
const ROUND: u64 = 12;
/// The network is divided if threads take at most so many percent of the processor time of one thread. In truth it is
/// less: what a part needs fits better into a cache.
const DIVIDE: u64 = 135;
/// It stays divided up to so many.
const STAY: u64 = 150;
/// Events after which is decided, at least.
const STRETCH: u64 = 1 << 14;

/// How a network is divided, and when.
#[derive(Debug)]
pub(super) struct Plan {
    pub places: Arc<Places>,
    /// Threads that run the parts.
    pub workers: usize,
    /// Cores that there are for them.
    pub cores: usize,
    /// It is divided whatever that costs.
    always: bool,
    /// Events until the next decision are as many as this.
    stretch: u64,
    /// Since the last decision.
    work: Work,
    present: Present,
    /// Events while it was divided, and while it was not.
    divided: u64,
    whole: u64,
}

/// What rounds had to do.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Work {
    pub rounds: u64,
    pub events: u64,
    /// Sum over rounds: the events of the part that had most.
    pub longest: u64,
}

/// The round that would be under way if the network were divided.
#[derive(Debug, Default)]
struct Present {
    /// When it ends, as bits.
    end: u64,
    /// By part.
    events: Vec<u64>,
}

impl Work {
    pub fn add_round(&mut self, events: impl Iterator<Item = u64> + Clone) {
        self.rounds += 1;
        self.events += events.clone().sum::<u64>();
        self.longest += events.max().unwrap_or(0);
    }

    /// Whether so many threads take at most `percent` of the time of one for it.
    fn pays(&self, threads: u64, percent: u64) -> bool {
        100 * threads * (self.longest + ROUND * self.rounds) <= percent * self.events
    }
}

/// When a round ends, as bits, whose first event is at `next`.
pub(super) fn round_end(next: u64, lookahead_s: f64) -> u64 {
    match next {
        u64::MAX => next,
        _ => (f64::from_bits(next) + lookahead_s).to_bits(),
    }
}

impl Plan {
    pub fn new(places: Places, workers: usize, always: bool, things: usize) -> Self {
        Plan {
            present: Present {
                end: 0,
                events: vec![0; places.parts],
            },
            places: Arc::new(places),
            workers,
            cores: thread::available_parallelism().map_or(1, NonZero::get),
            always,
            // Dividing a network takes time for each thing in it.
            stretch: STRETCH.max(things as u64),
            work: Work::default(),
            divided: 0,
            whole: 0,
        }
    }

    /// An event happens while the network is not divided.
    pub fn note(&mut self, turn: Turn, event: &Event) {
        // Lines are free at events of their own in a divided network only.
        if matches!(event, Event::LineFree(_)) {
            return;
        }
        if turn.time() >= self.present.end {
            self.end_round();
            self.present.end = round_end(turn.time(), self.places.lookahead_s);
        }
        let [part, _] = self.places.of_event(event);
        self.present.events[part as usize] += 1;
    }

    fn end_round(&mut self) {
        let events = &mut self.present.events;
        if events.iter().any(|events| *events > 0) {
            self.whole += events.iter().sum::<u64>();
            self.work.add_round(events.iter().copied());
            events.fill(0);
        }
    }

    /// Rounds have been run.
    pub fn add(&mut self, work: Work) {
        self.divided += work.events;
        self.work.rounds += work.rounds;
        self.work.events += work.events;
        self.work.longest += work.longest;
    }

    /// Whether most events were those of a network that was not divided.
    pub fn is_mostly_whole(&self) -> bool {
        !self.always && self.whole >= self.divided
    }

    /// Whether to divide from now on, if that is to change after a stretch; it is divided now, or not.
    fn decide(&mut self, is_divided: bool) -> Option<bool> {
        if self.always {
            return (!is_divided).then_some(true);
        }
        if self.work.events < self.stretch {
            return None;
        }
        let work = std::mem::take(&mut self.work);
        let percent = if is_divided { STAY } else { DIVIDE };
        let divide = work.pays(self.workers as u64, percent);
        if is_divided && !divide {
            // Where this changes again and again, it changes less often.
            self.stretch *= 2;
        }
        (divide != is_divided).then_some(divide)
    }
}

impl Simulation {
    /// As [`Simulation::run_to`], of a network that is divided while that pays.
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

    /// Divides the network, or puts it together, if it is time.
    fn follow_plan(&mut self) {
        let is_divided = !self.parts.is_empty();
        let Some(plan) = &mut self.plan else {
            return;
        };
        match plan.decide(is_divided) {
            Some(true) => {
                let places = plan.places.clone();
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
