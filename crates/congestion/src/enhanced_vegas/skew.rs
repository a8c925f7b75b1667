//! Estimates the skew between two clocks from one-way delays (after Moon, Skelly and Towsley, INFOCOM 1999).
//!
//! Queueing only increases a delay, so a line below all delays over time has the slope of the clock skew. Skew appears
//! in both directions with opposite signs. A slope in one direction only is a queue that grows.

use std::collections::VecDeque;

/// The most vertices kept per hull. The oldest are removed.
const VERTICES: usize = 256;
/// Minimum length of the history in seconds. Shorter ones do not separate a queue from skew reliably.
const SPAN_S: f64 = 1.0;

/// Trip times in both directions, including the clock offset, by the sender's time. In seconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Trips {
    forward: Hull,
    backward: Hull,
}

impl Trips {
    /// Adds the trip times of an acknowledgement.
    pub(super) fn add(&mut self, at: f64, forward: f64, backward: f64) {
        self.forward.add(at, forward);
        self.backward.add(at, backward);
    }

    /// `t_ab(Min)` and `t_ba(Min)` at time `at` (4.5). The minima drift with the clocks, so each trip time is
    /// extrapolated to that time.
    pub(super) fn minima(&self, at: f64, drift: f64) -> (f64, f64) {
        (
            self.forward.minimum(at, drift),
            self.backward.minimum(at, -drift),
        )
    }

    /// ρ − 1: the time that the receiver's clock gains on the sender's per second. 0 while unknown.
    pub(super) fn drift(&self) -> f64 {
        let (Some(there), Some(back)) = (self.forward.slope(), self.backward.slope()) else {
            return 0.0;
        };
        // The common part of both.
        if there > 0.0 && back < 0.0 {
            there.min(-back)
        } else if there < 0.0 && back > 0.0 {
            there.max(-back)
        } else {
            0.0
        }
    }
}

/// The lower convex hull of delays over time.
#[derive(Clone, Debug, Default)]
struct Hull {
    vertices: VecDeque<(f64, f64)>,
    sum_at: f64,
    count: f64,
}

impl Hull {
    fn add(&mut self, at: f64, delay: f64) {
        self.sum_at += at;
        self.count += 1.0;
        while let [.., a, b] = *self.vertices.make_contiguous() {
            // `b` remains a vertex only below the line from `a` to the new point.
            let above = (b.1 - a.1) * (at - a.0) >= (delay - a.1) * (b.0 - a.0);
            if !above {
                break;
            }
            self.vertices.pop_back();
        }
        // Of delays at the same time, the lower one counts.
        if self.vertices.back().is_some_and(|last| last.0 >= at) {
            let last = self.vertices.pop_back().map_or(delay, |last| last.1);
            self.vertices.push_back((at, last.min(delay)));
        } else {
            self.vertices.push_back((at, delay));
        }
        if self.vertices.len() > VERTICES {
            self.vertices.pop_front();
        }
    }

    /// The minimum delay, extrapolated to `at`. It is on the hull.
    fn minimum(&self, at: f64, drift: f64) -> f64 {
        let drifted = self.vertices.iter().map(|v| v.1 + drift * (at - v.0));
        drifted.fold(f64::INFINITY, f64::min)
    }

    /// The slope of the edge at the mean time: of all lines below the points, it has the smallest sum of distances.
    fn slope(&self) -> Option<f64> {
        let (first, last) = (self.vertices.front()?, self.vertices.back()?);
        if last.0 - first.0 < SPAN_S {
            return None;
        }
        let mean = self.sum_at / self.count;
        let mut edges = self.vertices.iter().zip(self.vertices.iter().skip(1));
        let (a, b) = edges.find(|(_, b)| b.0 >= mean)?;
        Some((b.1 - a.1) / (b.0 - a.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 s of delays with a drift, and with occasional queueing in either direction. Returns the last estimate.
    fn estimate(drift: f64, filling: f64) -> f64 {
        let mut trips = Trips::default();
        for i in 0..1000_u32 {
            let at = f64::from(i) * 0.01;
            let queue = |period: u32| f64::from(i % period) * 0.002;
            let forward = 5.0 + drift * at + queue(7) + filling * at;
            trips.add(at, forward, -4.9 - drift * at + queue(11));
        }
        trips.drift()
    }

    #[test]
    fn the_drift_is_found_under_the_queueing() {
        for drift in [1e-4, -1e-4, 3e-3] {
            assert!((estimate(drift, 0.0) / drift - 1.0).abs() < 0.01, "{drift}");
        }
    }

    #[test]
    fn a_queue_that_fills_is_no_drift() {
        assert!(estimate(0.0, 0.05).abs() < 1e-9);
        assert!((estimate(1e-4, 0.05) / 1e-4 - 1.0).abs() < 0.01);
    }
}
