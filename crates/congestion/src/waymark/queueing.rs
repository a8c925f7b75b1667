//! The backlog that a flow maintains, depending on the standing queue.
//!
//! Each flow measures its own backlog with a small error, always of the same sign: the rate only grows while there is
//! no queue. n flows would queue n such errors, and their shares would depend on the errors. The queueing time does not
//! depend on the flow's own measurement, and all flows in a queue observe the same. In a first-come-first-served queue,
//! a flow with the rate D has `D Q` of the waiting segments, where `Q` is the queueing time. The target of the flow is
//! therefore
//!
//! `b = β + G (β − D Q)`, at least 0,
//!
//! The equilibrium is `D Q = β`: all flows have the same rate, and the error is divided by 1 + G. `Q` is the mean of
//! the *standing* queueing time, which is the minimum in two round trips: a queue that is caused by a burst or by two
//! coinciding packets, and that disappears within a round trip, needs no reaction. The mean is a first-order lag of T
//! round trips. The backlog follows b with a time constant of one round trip, so the loop has the characteristic
//! equation `T s² + (1 + T) s + 1 + G = 0`, with s per round trip. `G = (T − 1)²/(4 T)` is critical damping.
//! `docs/waymark-control.md` contains the rest of the argument.

/// T: the time constant of the mean in round trips.
const LAG: f64 = 16.0;
/// G: the gain for the standing queue.
const GAIN: f64 = (LAG - 1.0) * (LAG - 1.0) / (4.0 * LAG);

/// The standing queueing time on the forward path. Times are in seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queueing {
    /// The minimum queueing time of the last round trip, and of this one.
    least: [f64; 2],
    /// `Q`
    mean: f64,
    seen_at: Option<f64>,
}

impl Default for Queueing {
    fn default() -> Self {
        Queueing {
            least: [f64::INFINITY; 2],
            mean: 0.0,
            seen_at: None,
        }
    }
}

impl Queueing {
    /// Starts a round trip.
    pub(super) fn next_round(&mut self) {
        self.least = [self.least[1], f64::INFINITY];
    }

    /// Handles the queueing time that an acknowledgement at `now` reports.
    pub(super) fn see(&mut self, forward: f64, now: f64, propagation: f64) {
        self.least[1] = self.least[1].min(forward);
        let standing = self.least[0].min(self.least[1]);
        let part = self.seen_at.map_or(1.0, |before| {
            ((now - before) / (LAG * propagation)).clamp(0.0, 1.0)
        });
        self.mean += part * (standing - self.mean);
        self.seen_at = Some(now);
    }

    /// `b`, for a flow that would have β segments queued alone and has this rate. A mean that would require less than 0
    /// is reduced: otherwise the flow would stay behind for many round trips after a long queue.
    pub(super) fn target(&mut self, backlog: f64, arrival_rate: f64) -> f64 {
        let most = backlog * (1.0 + 1.0 / GAIN);
        self.mean = self.mean.min(most / arrival_rate);
        backlog + GAIN * (backlog - arrival_rate * self.mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUND_TRIP: f64 = 0.1;

    /// The queueing time is `forward` for this many round trips after `from`.
    fn wait(queueing: &mut Queueing, from: u32, forward: f64, round_trips: u32) {
        for sixteenth in 1..=16 * round_trips {
            if sixteenth % 16 == 1 {
                queueing.next_round();
            }
            let now = (f64::from(from) + f64::from(sixteenth) / 16.0) * ROUND_TRIP;
            queueing.see(forward, now, ROUND_TRIP);
        }
    }

    /// The same, for a queue that was empty before.
    fn after(forward: f64, round_trips: u32) -> Queueing {
        let mut queueing = Queueing::default();
        queueing.see(0.0, 0.0, ROUND_TRIP);
        queueing.next_round();
        wait(&mut queueing, 0, forward, round_trips);
        queueing
    }

    #[test]
    fn the_mean_is_that_of_sixteen_round_trips() {
        // 1 − e⁻¹ of a step, with steps of 1/256.
        let part = 1.0 - libm::pow(1.0 - 1.0 / 256.0, 256.0);
        assert!((after(0.001, 16).mean - 0.001 * part).abs() < 1e-12);
    }

    #[test]
    fn the_first_queueing_time_is_the_mean() {
        let mut queueing = Queueing::default();
        queueing.see(0.002, 5.0, ROUND_TRIP);
        assert_eq!(queueing.mean, 0.002);
    }

    /// A queue that disappears once per round trip does not stand. One acknowledgement shows this for this round trip
    /// and the next.
    #[test]
    fn a_queue_that_goes_does_not_count() {
        let mut queueing = after(0.001, 64);
        let before = queueing.mean;
        queueing.next_round();
        queueing.see(0.0, 6.5, ROUND_TRIP);
        let mean = queueing.mean;
        assert!(mean < before);
        queueing.see(0.1, 6.55, ROUND_TRIP);
        queueing.next_round();
        queueing.see(0.1, 6.6, ROUND_TRIP);
        assert!(queueing.mean < mean);
        let mean = queueing.mean;
        queueing.next_round();
        queueing.see(0.1, 6.7, ROUND_TRIP);
        assert!(queueing.mean > mean);
    }

    /// 1000 segments per second, β 1/2: without a queue 1/2 + 225/64 · 1/2; with a mean of .5 ms β; with .6 ms 1/2 −
    /// 225/64 · .1.
    #[test]
    fn the_target_falls_as_the_mean_queue_grows() {
        let target = |mean| {
            Queueing {
                mean,
                ..Queueing::default()
            }
            .target(0.5, 1000.0)
        };
        assert!((target(0.0) - 2.257_812_5).abs() < 1e-12);
        assert!((target(0.0005) - 0.5).abs() < 1e-12);
        assert!((target(0.0006) - 0.148_437_5).abs() < 1e-12);
    }

    /// At a target of 0 the mean is the time of 1/2 · (1 + 64/225) segments. After a queue of 50 segments the target is
    /// β again 16 ln(1 + 64/225) = 4.005 round trips after the queue has disappeared.
    #[test]
    fn a_long_queue_is_forgotten_soon() {
        let mut queueing = after(0.05, 16);
        assert!(queueing.target(0.5, 1000.0).abs() < 1e-12);
        assert!((queueing.mean - 0.000_642_222).abs() < 1e-9);
        wait(&mut queueing, 16, 0.0, 3);
        assert!(queueing.target(0.5, 1000.0) < 0.5);
        wait(&mut queueing, 19, 0.0, 2);
        assert!(queueing.target(0.5, 1000.0) > 0.5);
    }

    /// Of two flows with different rates in one queue, the faster one has the smaller target.
    #[test]
    fn the_faster_flow_aims_at_less() {
        let aims = [750.0, 250.0].map(|rate| after(0.001, 64).target(0.5, rate));
        assert!(aims[0] < 0.1 && aims[1] > 1.0, "{aims:?}");
    }
}
