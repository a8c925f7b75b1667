//! Pacing: limits the rate at which segments are sent.

use units::{Duration, Instant};

/// When the next segment may be sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pacer {
    next: Instant,
}

/// The maximum time that is caught up at once, even after a time without segments.
const MOST_SLACK: Duration = Duration::from_millis(1);
/// If timers are on time, the maximum is this fraction of a round trip.
const PARTS: u64 = 8;

/// The pacing rate in windows per round trip: in slow start, such that the window can double within it, and in
/// congestion avoidance, such that pacing is never the limit (as in the Linux kernel).
const SLOW_START_GAIN: f64 = 2.0;
const AVOIDANCE_GAIN: f64 = 1.2;

impl Pacer {
    /// Returns when a segment may be sent, or `None` if it may be sent now.
    pub(super) fn wait(&self, now: Instant) -> Option<Instant> {
        (now < self.next).then_some(self.next)
    }

    /// Records a segment sent at a rate of `per_second`. Up to `slack` is caught up.
    pub(super) fn on_sent(&mut self, now: Instant, per_second: f64, slack: Duration) {
        let apart = Duration::from_secs_f64(1.0 / per_second.max(MIN_PER_SECOND));
        self.next = self.next.max(now - slack) + apart;
    }
}

/// One segment per hour, so that a rate of zero does not stop a connection forever.
const MIN_PER_SECOND: f64 = 1.0 / 3600.0;

/// The time that is caught up at once. With a short round trip, a millisecond would be a burst of a window. If timers
/// may be `late`, at least that much is needed to maintain the rate.
pub(super) fn slack(late: Duration, srtt: Option<Duration>) -> Duration {
    srtt.map_or(MOST_SLACK, |srtt| MOST_SLACK.min(late.max(srtt / PARTS)))
}

/// The rate that spreads `cwnd` segments over a round trip, in segments per second.
pub(super) fn rate(cwnd: f64, ssthresh: f64, srtt: Duration) -> f64 {
    let gain = if cwnd < ssthresh / 2.0 {
        SLOW_START_GAIN
    } else {
        AVOIDANCE_GAIN
    };
    gain * cwnd / srtt.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_leave_at_the_rate_and_a_late_timer_catches_up_little() {
        let mut pacer = Pacer::default();
        let start = Instant::from_micros(1_000_000);
        let mut now = start;
        let mut sent = 0;
        while now < start + Duration::from_millis(100) {
            match pacer.wait(now) {
                Some(at) => now = at,
                None => {
                    sent += 1;
                    pacer.on_sent(now, 10_000.0, MOST_SLACK);
                }
            }
        }
        assert!((1000..=1011).contains(&sent), "{sent}");
        now += Duration::from_millis(500);
        let burst = (0..100)
            .take_while(|_| {
                pacer.wait(now).is_none_or(|_| false) && {
                    pacer.on_sent(now, 10_000.0, MOST_SLACK);
                    true
                }
            })
            .count();
        assert!(burst <= 11, "{burst}");
    }

    #[test]
    fn a_burst_is_a_part_of_a_round_trip_unless_timers_are_late() {
        let rtt = |us| Some(Duration::from_micros(us));
        let on_time = Duration::ZERO;
        assert_eq!(slack(on_time, rtt(80)), Duration::from_micros(10));
        assert_eq!(slack(on_time, rtt(100_000)), MOST_SLACK);
        assert_eq!(slack(on_time, None), MOST_SLACK);
        assert_eq!(slack(MOST_SLACK, rtt(80)), MOST_SLACK);
        assert_eq!(slack(MOST_SLACK * 5, rtt(80)), MOST_SLACK);
    }

    #[test]
    fn a_window_a_round_trip_with_room_to_grow() {
        let rtt = Duration::from_millis(100);
        assert_eq!(rate(10.0, f64::INFINITY, rtt), 200.0);
        assert_eq!(rate(10.0, 10.0, rtt), 120.0);
    }
}
