//! Vegas' fine-grained timeout, which duplicates and the first acknowledgements after a loss check.

use units::Duration;

/// Smoothed RTT and deviation, in seconds, and the timeout that follows from them.
#[derive(Debug)]
pub(in crate::tcp) struct Fine {
    /// Eight times the smoothed RTT.
    srtt8: f64,
    /// Four times the mean deviation.
    rttvar4: f64,
    timeout: f64,
}

impl Fine {
    /// Initialises it from the time between the first segment and the first acknowledgement.
    pub(in crate::tcp) fn first(rtt: Duration) -> Self {
        let rtt = rtt.as_secs_f64();
        let mut fine = Fine {
            srtt8: 8.0 * rtt,
            rttvar4: rtt,
            timeout: 0.0,
        };
        fine.timeout = fine.unstretched();
        fine
    }

    fn unstretched(&self) -> f64 {
        self.srtt8 / 8.0 + self.rttvar4 / 2.0
    }

    /// Gains 1/8 and 1/4. The timeout is a sixteenth longer.
    pub(in crate::tcp) fn sample(&mut self, rtt: Duration) {
        let error = rtt.as_secs_f64() - self.srtt8 / 8.0;
        self.srtt8 += error;
        self.rttvar4 += error.abs() - self.rttvar4 / 4.0;
        self.timeout = 1.0625 * self.unstretched();
    }

    /// Called when a segment was resent: the timeout grows until the next sample.
    pub(in crate::tcp) fn stretch(&mut self, factor: f64) {
        self.timeout *= factor;
    }

    /// Whether a segment sent `age` ago is overdue.
    pub(in crate::tcp) fn is_overdue(&self, age: Duration) -> bool {
        age.as_secs_f64() >= self.timeout
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: f64) -> Duration {
        Duration::from_secs_f64(ms / 1e3)
    }

    #[test]
    fn the_first_timeout_is_one_and_a_half_rtt() {
        let fine = Fine::first(ms(100.0));
        assert!(!fine.is_overdue(ms(149.9)));
        assert!(fine.is_overdue(ms(150.1)));
    }

    #[test]
    fn a_sample_moves_mean_and_deviation_and_adds_a_sixteenth() {
        let mut fine = Fine::first(ms(100.0));
        // error 80: srtt = 110, rttvar4 = 100 + 80 − 25 = 155; 1.0625·(110 + 77.5) = 199.21875.
        fine.sample(ms(180.0));
        assert!(!fine.is_overdue(ms(199.2)));
        assert!(fine.is_overdue(ms(199.3)));
        fine.stretch(2.0);
        assert!(!fine.is_overdue(ms(398.4)));
        assert!(fine.is_overdue(ms(398.5)));
    }
}
