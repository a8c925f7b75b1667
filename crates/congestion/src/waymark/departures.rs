//! The intended and actual sending rates.

use crate::history::History;

/// If the sending rate is below this fraction of the pacing rate, something else held the sender back.
const HELD_BACK: f64 = 0.75;

/// The departures of a connection. Times are in seconds, rates in segments per second.
#[derive(Clone, Debug)]
pub(super) struct Departures {
    /// The pacing rate over time.
    paces: History,
    /// Number of segments sent so far.
    sent: f64,
    /// The history of this number.
    counts: History,
}

impl Departures {
    /// Times that differ by at most `slack` are considered equal.
    pub(super) fn new(slack: f64) -> Self {
        Departures {
            paces: History::new(slack),
            sent: 0.0,
            counts: History::new(slack),
        }
    }

    /// Counts a departing segment.
    pub(super) fn count(&mut self) {
        self.sent += 1.0;
    }

    /// Records the number of segments sent until now, if the last record is at least `apart` old.
    pub(super) fn record(&mut self, now: f64, apart: f64) {
        self.counts.push(now, self.sent, apart);
    }

    /// Records the pacing rate from now on, if the last record is at least `apart` old.
    pub(super) fn set_pace(&mut self, now: f64, pace: f64, apart: f64) {
        self.paces.push(now, pace, apart);
    }

    /// The pacing rate at a time.
    pub(super) fn pace(&self, time: f64) -> f64 {
        let then = self.paces.newest(time, |_| true);
        then.map_or(0.0, |point| point.value)
    }

    /// The sending rate in the `span` around a time, or in a longer interval if records are rarer. This is the pacing
    /// rate, or less if the application or the receiver's window held the sender back.
    pub(super) fn rate(&self, time: f64, span: f64) -> f64 {
        let pace = self.pace(time);
        let count = |time: f64| self.counts.newest(time, |_| true);
        let Some(before) = count(time - span / 2.0) else {
            return pace;
        };
        let after = count(time + span / 2.0)
            .filter(|after| after.time > before.time)
            .or_else(|| self.counts.after(before.time));
        // Plus one: the next segment may have been about to leave.
        after.map_or(pace, |after| {
            pace.min((after.value - before.value + 1.0) / (after.time - before.time))
        })
    }

    /// Whether the sender was held back in the `span` around a time.
    pub(super) fn fall_behind(&self, time: f64, span: f64) -> bool {
        self.rate(time, span) < HELD_BACK * self.pace(time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten segments per second for ten seconds, with a pacing rate of `pace`.
    fn sent_by(pace: f64) -> Departures {
        let mut departures = Departures::new(0.0);
        departures.set_pace(0.0, pace, 0.0);
        for tenth in 0..100 {
            departures.count();
            departures.record(f64::from(tenth) / 10.0, 0.0);
        }
        departures
    }

    #[test]
    fn what_left_at_the_pacing_rate_left_at_that_rate() {
        let departures = sent_by(10.0);
        assert_eq!(departures.rate(7.0, 2.0), 10.0);
        assert!(!departures.fall_behind(7.0, 2.0));
    }

    #[test]
    fn less_left_than_the_pacing_rate_allowed() {
        // 20 segments in 2 s, and the one that may have been about to leave.
        let departures = sent_by(100.0);
        assert!((departures.rate(7.0, 2.0) - 10.5).abs() < 1e-9);
        assert!(departures.fall_behind(7.0, 2.0));
    }

    /// Between two records, a second apart, ten segments left and one may have been about to leave.
    #[test]
    fn where_memories_are_rare_the_rate_is_that_between_two() {
        let mut departures = Departures::new(0.0);
        departures.set_pace(0.0, 100.0, 0.0);
        for second in 0..3 {
            departures.record(f64::from(second), 0.0);
            (0..10).for_each(|_| departures.count());
        }
        assert!((departures.rate(1.5, 0.1) - 11.0).abs() < 1e-9);
        assert_eq!(departures.rate(2.5, 0.1), 100.0, "nothing is known yet");
    }
}
