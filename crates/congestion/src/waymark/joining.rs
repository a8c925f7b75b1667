//! The rate at which a flow joins others.
//!
//! In equilibrium, `D Q = β` holds for each flow in a queue ([`queueing`](super::queueing)). The queueing time that a
//! new flow observes first therefore gives the rate of each flow that is there: β/Q. With the law alone, the rate of
//! the new flow would approach it by (1 + G) Q/R of the difference per round trip, which is slow in a short queue. The
//! new flow therefore uses β/Q as its minimum rate at first.

/// Round trips with the minimum rate: after the first, segments that were sent at this rate are acknowledged; after the
/// second, D is measured over a round trip of them; in the third and fourth, the others observe the longer queue and
/// reduce their rates.
const ROUND_TRIPS: u8 = 4;
/// The maximum of the minimum rate, as a multiple of the initial rate. The queueing time is that of a single segment,
/// which may have found a shorter queue than others.
const MOST: f64 = 2.0;

/// The minimum rate of a new flow, in segments per second, and for how long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joining {
    rate: f64,
    round_trips: u8,
}

impl Joining {
    /// For a flow whose first acknowledged segment was queued for `queueing` seconds, whose initial rate is `initial`,
    /// and which would have `backlog` segments queued. `None` if there was no queue.
    pub(super) fn new(queueing: f64, initial: f64, backlog: f64) -> Option<Self> {
        (queueing > 0.0).then(|| Joining {
            rate: (backlog / queueing).min(MOST * initial),
            round_trips: ROUND_TRIPS,
        })
    }

    /// The same in the next round trip, unless this was the last.
    pub(super) fn next_round(self) -> Option<Self> {
        let round_trips = self.round_trips - 1;
        (round_trips > 0).then_some(Joining {
            round_trips,
            ..self
        })
    }

    /// The minimum rate.
    pub(super) fn rate(self) -> f64 {
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_flows_with_half_a_segment_in_the_queue() {
        let joining = Joining::new(0.002, 200.0, 0.5).unwrap();
        assert_eq!(joining.rate(), 250.0);
    }

    #[test]
    fn a_short_queue_at_most_doubles_the_initial_rate() {
        let joining = Joining::new(1e-6, 200.0, 0.5).unwrap();
        assert_eq!(joining.rate(), 400.0);
        assert!(Joining::new(0.0, 200.0, 0.5).is_none());
    }

    #[test]
    fn it_ends_after_four_round_trips() {
        let first = Joining::new(0.002, 200.0, 0.5);
        let all = std::iter::successors(first, |joining| joining.next_round());
        assert_eq!(all.count(), 4);
    }
}
