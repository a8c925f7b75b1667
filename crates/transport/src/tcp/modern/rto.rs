//! The retransmission timeout (RFC 6298).

use units::{Duration, Instant};

use super::config::RtoBounds;

/// Estimates the round-trip time and the timeout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rto {
    bounds: RtoBounds,
    /// SRTT and RTTVAR.
    estimate: Option<(Duration, Duration)>,
    /// The minimum sample of the current and of the preceding time window.
    lowest: Option<(Duration, Duration)>,
    window_start: Instant,
    backoff: u32,
}

/// How long a minimum round-trip time counts: at least this, and at most twice as long, because routes change.
const MIN_RTT_WINDOW: Duration = Duration::from_millis(30_000);

impl Rto {
    pub(super) fn new(bounds: RtoBounds) -> Self {
        Rto {
            bounds,
            estimate: None,
            lowest: None,
            window_start: Instant::ZERO,
            backoff: 0,
        }
    }

    /// Handles a measurement: (2.2) for the first, (2.3) for others.
    pub(super) fn sample(&mut self, now: Instant, rtt: Duration) {
        let rtt = rtt.max(Duration::from_nanos(1));
        self.estimate = Some(match self.estimate {
            None => (rtt, rtt / 2),
            Some((srtt, rttvar)) => {
                let apart = srtt.saturating_sub(rtt) + rtt.saturating_sub(srtt);
                ((srtt * 7 + rtt) / 8, (rttvar * 3 + apart) / 4)
            }
        });
        self.backoff = 0;
        self.lowest = Some(match self.lowest {
            None => {
                self.window_start = now;
                (rtt, rtt)
            }
            Some((current, _)) if now.since(self.window_start) > MIN_RTT_WINDOW => {
                self.window_start = now;
                (rtt, current)
            }
            Some((current, before)) => (current.min(rtt), before),
        });
    }

    /// SRTT, if there was a sample.
    pub(super) fn smoothed(&self) -> Option<Duration> {
        self.estimate.map(|(srtt, _)| srtt)
    }

    /// The recent minimum round-trip time.
    pub(super) fn lowest(&self) -> Option<Duration> {
        self.lowest.map(|(current, before)| current.min(before))
    }

    /// RTO: (2.3) within its bounds, doubled for every consecutive timeout (5.5). The lower bound applies to the amount
    /// added to SRTT, as in the Linux kernel: if round-trip times hardly vary, the timer would otherwise expire just
    /// before the acknowledgement of a retransmission arrives.
    pub(super) fn timeout(&self) -> Duration {
        let base = match self.estimate {
            None => self.bounds.initial,
            Some((srtt, rttvar)) => srtt + (rttvar * 4).max(self.bounds.min),
        };
        (base * (1_u64 << self.backoff.min(32))).min(self.bounds.max)
    }

    /// The timer expired.
    pub(super) fn back_off(&mut self) {
        self.backoff = self.backoff.saturating_add(1);
    }

    /// The other end responds again.
    pub(super) fn reset_backoff(&mut self) {
        self.backoff = 0;
    }

    /// Number of consecutive timeouts.
    pub(super) fn backoff(&self) -> u32 {
        self.backoff
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn the_rules_of_the_rfc_by_hand() {
        let mut rto = Rto::new(RtoBounds {
            min: ms(1),
            ..RtoBounds::default()
        });
        assert_eq!(rto.timeout(), ms(1000));
        // SRTT 100, RTTVAR 50.
        rto.sample(Instant::ZERO, ms(100));
        assert_eq!(rto.timeout(), ms(300));
        // RTTVAR 3/4 · 50 + 1/4 · 80 = 57.5, SRTT 7/8 · 100 + 1/8 · 180 = 110.
        rto.sample(Instant::ZERO, ms(180));
        assert_eq!(rto.smoothed(), Some(ms(110)));
        assert_eq!(rto.timeout(), ms(340));
        rto.back_off();
        rto.back_off();
        assert_eq!(rto.timeout(), ms(4 * 340));
        rto.sample(Instant::ZERO, ms(110));
        assert!(rto.timeout() < ms(340));
    }

    #[test]
    fn the_bounds_hold() {
        let mut rto = Rto::new(RtoBounds::default());
        (0..50).for_each(|_| rto.sample(Instant::ZERO, ms(1)));
        assert_eq!(rto.timeout(), ms(201));
        (0..50).for_each(|_| rto.back_off());
        assert_eq!(rto.timeout(), ms(60_000));
    }

    #[test]
    fn the_lowest_is_forgotten_in_time() {
        let mut rto = Rto::new(RtoBounds::default());
        let at = |s: u64| Instant::from_micros(s * 1_000_000);
        rto.sample(at(0), ms(10));
        rto.sample(at(31), ms(50));
        assert_eq!(rto.lowest(), Some(ms(10)));
        rto.sample(at(62), ms(40));
        assert_eq!(rto.lowest(), Some(ms(40)));
    }
}
