//! The retransmission timeout of the `ns2` profile: Jacobson's integer arithmetic (SIGCOMM 1988,
//! appendix A) on a coarse clock, with RFC 2988's minimum as an option.

use units::{Duration, Instant};

use crate::tcp::config::RtoConfig;

/// The maximum backoff.
const MAX_BACKOFF: u32 = 64;
/// With a larger backoff than this, the smoothed RTT is discarded.
const DOUBTFUL_BACKOFF: u32 = 8;
/// The maximum measurement, in ticks, for which the integers have room.
const MAX_TICKS: i64 = 1 << 40;
/// The minimum timeout, in ticks.
const MIN_TICKS: u64 = 2;

/// Smoothed RTT, variance and backoff.
#[derive(Debug)]
pub(in crate::tcp) struct Coarse {
    config: RtoConfig,
    /// `s`: eight times the smoothed RTT, in ticks; 0 before the first sample.
    srtt8: i64,
    /// `v`: four times the RTT's mean deviation, in ticks.
    rttvar4: i64,
    /// The timeout before minimum and backoff.
    timeout: Duration,
    backoff: u32,
}

impl Coarse {
    pub(in crate::tcp) fn new(config: RtoConfig) -> Self {
        Coarse {
            config,
            srtt8: 0,
            rttvar4: 0,
            timeout: config.initial,
            backoff: 1,
        }
    }

    /// Handles the acknowledgement of a segment sent at `sent` after `rtt`.
    pub(in crate::tcp) fn sample(&mut self, sent: Instant, rtt: Duration) {
        let ticks = self.ticks(sent, rtt);
        if self.srtt8 == 0 {
            self.srtt8 = ticks << 3;
            self.rttvar4 = ticks << 1;
        } else {
            let error = ticks - (self.srtt8 >> 3);
            self.srtt8 = (self.srtt8 + error).max(1);
            self.rttvar4 = (self.rttvar4 + error.abs() - (self.rttvar4 >> 2)).max(1);
        }
        let ticks = (8 * self.rttvar4 + self.srtt8) >> 3;
        self.timeout = self.config.tick * ticks as u64;
    }

    /// Number of ticks of the coarse clock between sending and acknowledgement, at least one.
    /// Computed in floating point like in the simulator, where 1 s is 9 ticks of 0.1 s and a
    /// remainder of almost one: a segment sent on a tick may count one more.
    fn ticks(&self, sent: Instant, rtt: Duration) -> i64 {
        let tick = self.config.tick.as_secs_f64();
        let rtt = rtt.as_secs_f64();
        let into_tick = (sent.as_secs_f64() + self.config.phase.as_secs_f64()) % tick;
        (((rtt + into_tick) / tick) as i64).clamp(1, MAX_TICKS)
    }

    /// Called when a segment that was timed from its only transmission is acknowledged.
    pub(in crate::tcp) fn reset_backoff(&mut self) {
        self.backoff = 1;
    }

    /// Called when the timer has expired, or is restarted as if it had.
    pub(in crate::tcp) fn back_off(&mut self) {
        // RFC 2988 limits the timeout rather than the backoff.
        if self.backoff < MAX_BACKOFF || self.config.rfc2988 && self.timeout() < self.config.max {
            self.backoff *= 2;
        }
        if self.backoff > DOUBTFUL_BACKOFF {
            self.rttvar4 += self.srtt8 >> 3;
            self.srtt8 = 0;
        }
    }

    /// The retransmission timeout.
    pub(in crate::tcp) fn timeout(&self) -> Duration {
        let RtoConfig {
            min,
            max,
            tick,
            rfc2988,
            ..
        } = self.config;
        let backoff = u64::from(self.backoff);
        let timeout = match rfc2988 {
            true => self.timeout.max(min) * backoff,
            false => (self.timeout * backoff).max(min),
        };
        timeout.min(max).max(tick * MIN_TICKS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coarse(rfc2988: bool, min_ms: u64) -> Coarse {
        Coarse::new(RtoConfig {
            tick: Duration::from_millis(100),
            min: Duration::from_millis(min_ms),
            rfc2988,
            ..RtoConfig::STOCK
        })
    }

    #[test]
    fn the_first_sample_gives_three_times_itself() {
        let mut rto = coarse(false, 0);
        // r = int((0.25 + 0.06)/0.1) = 3; s = 24, v = 6; (48 + 24) >> 3 = 9 ticks.
        rto.sample(Instant::from_micros(1_060_000), Duration::from_millis(250));
        assert_eq!(rto.timeout(), Duration::from_millis(900));
    }

    #[test]
    fn later_samples_move_by_an_eighth_and_a_quarter() {
        let mut rto = coarse(false, 0);
        rto.sample(Instant::from_micros(1_060_000), Duration::from_millis(250));
        // r = 7: d = 7 − 3 = 4, s = 28, v = 6 + 4 − 1 = 9; (72 + 28) >> 3 = 12 ticks.
        rto.sample(Instant::from_micros(1_060_000), Duration::from_millis(670));
        assert_eq!(rto.timeout(), Duration::from_millis(1200));
    }

    #[test]
    fn rfc2988_backs_off_from_the_minimum() {
        for (rfc2988, after) in [(true, 4000), (false, 1800)] {
            let mut rto = coarse(rfc2988, 1000);
            rto.sample(Instant::from_micros(1_060_000), Duration::from_millis(250));
            assert_eq!(rto.timeout(), Duration::from_millis(1000));
            rto.back_off();
            if rfc2988 {
                rto.back_off();
            }
            assert_eq!(rto.timeout(), Duration::from_millis(after));
        }
    }

    #[test]
    fn a_long_backoff_moves_the_mean_into_the_deviation() {
        let mut rto = coarse(false, 0);
        rto.sample(Instant::from_micros(1_060_000), Duration::from_millis(250));
        (0..9).for_each(|_| rto.back_off());
        assert_eq!((rto.backoff, rto.srtt8), (64, 0));
        // 6 backoffs to 64, of which 16, 32, 64 and three more at the maximum are above 8. Only the
        // first finds s = 24.
        assert_eq!(rto.rttvar4, 6 + 3);
        assert_eq!(rto.timeout(), Duration::from_millis(57_600));
    }

    #[test]
    fn no_timeout_is_shorter_than_two_ticks() {
        let initial = Duration::from_millis(100);
        let rto = Coarse::new(RtoConfig {
            initial,
            ..coarse(false, 0).config
        });
        assert_eq!(rto.timeout(), Duration::from_millis(200));
    }

    #[test]
    fn the_phase_moves_a_tick_into_the_measurement() {
        // 0.25 s from 0.06 s into a tick ends in the third tick, from 0.01 s in the second.
        let sent = Instant::from_micros(1_060_000);
        let mut rto = coarse(false, 0);
        assert_eq!(rto.ticks(sent, Duration::from_millis(250)), 3);
        rto.config.phase = Duration::from_millis(50);
        assert_eq!(rto.ticks(sent, Duration::from_millis(250)), 2);
    }
}
