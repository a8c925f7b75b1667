//! Westwood's bandwidth estimates, in segments per second.

use units::Instant;

/// The filter's time constant `τ` for samples at every acknowledgement, in seconds.
const TAU: f64 = 0.5;
/// `m`: the minimum number of samples per time constant. Silence counts as samples of zero.
const SAMPLES: f64 = 2.0;
/// The weight of the past for samples per round trip.
const PAST: f64 = 0.9;
/// The number of time constants of silence after which the past no longer counts.
const FORGOTTEN: f64 = 40.0;

/// The sampling of the bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// At every acknowledgement, smoothed by a low-pass filter in time: Westwood.
    EveryAck,
    /// Once per round trip, so that bursts of acknowledgements do not increase the estimate:
    /// Westwood+.
    EveryRtt,
}

/// A smoothed bandwidth.
#[derive(Clone, Copy, Debug)]
pub struct Bandwidth {
    sampling: Sampling,
    /// The end of the last sample.
    last: Option<Instant>,
    /// Segments since that time.
    segments: f64,
    /// The newest round-trip time, in seconds.
    rtt: f64,
    /// `b`, the last sample, and `b̂`.
    sample: f64,
    estimate: Option<f64>,
}

impl Bandwidth {
    /// Creates an estimator without an estimate.
    pub fn new(sampling: Sampling) -> Self {
        Bandwidth {
            sampling,
            last: None,
            segments: 0.0,
            rtt: 0.0,
            sample: 0.0,
            estimate: None,
        }
    }

    /// The estimate, if there is one yet.
    pub fn estimate(&self) -> Option<f64> {
        self.estimate
    }

    /// Sets the newest round-trip time, in seconds.
    pub fn set_rtt(&mut self, rtt: f64) {
        self.rtt = rtt;
    }

    /// Handles segments that an acknowledgement reports as arrived. The first one starts the clock.
    pub fn add(&mut self, now: Instant, segments: f64) {
        let Some(last) = self.last else {
            self.last = Some(now);
            return;
        };
        self.segments += segments;
        let elapsed = now.since(last).as_secs_f64();
        let long_enough = match self.sampling {
            Sampling::EveryAck => elapsed > 0.0,
            Sampling::EveryRtt => elapsed > 0.0 && elapsed >= self.rtt,
        };
        if !long_enough {
            return;
        }
        let segments = std::mem::take(&mut self.segments);
        self.last = Some(now);
        match self.sampling {
            Sampling::EveryAck => self.filter(segments, elapsed),
            Sampling::EveryRtt => {
                let sample = segments / elapsed;
                let past = self.estimate.unwrap_or(sample);
                self.estimate = Some(PAST * past + (1.0 - PAST) * sample);
            }
        }
    }

    /// MobiCom 2001, §3.1.2, with samples of zero during silence.
    fn filter(&mut self, segments: f64, elapsed: f64) {
        let silence = TAU / SAMPLES;
        let mut rest = elapsed.min(FORGOTTEN * TAU);
        while rest > silence {
            self.take(0.0, silence);
            rest -= silence;
        }
        self.take(segments / rest, rest);
    }

    /// `b̂ = a·b̂ + (1 − a)·(b + b')/2` with `a = (2τ − Δ)/(2τ + Δ)`, where `b'` is the preceding
    /// sample.
    fn take(&mut self, sample: f64, delta: f64) {
        let Some(past) = self.estimate else {
            self.sample = sample;
            self.estimate = Some(sample);
            return;
        };
        let a = (2.0 * TAU - delta) / (2.0 * TAU + delta);
        self.estimate = Some(a * past + (1.0 - a) * (sample + self.sample) / 2.0);
        self.sample = sample;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_micros(ms * 1000)
    }

    #[test]
    fn the_filter_weighs_by_time() {
        // Δ = 0.1 s, τ = 0.5 s: a = 0.9/1.1. Samples of 10/s, then 30/s:
        // a·10 + (1 − a)·(30 + 10)/2 = 90/11 + 40/11 = 130/11.
        let mut bandwidth = Bandwidth::new(Sampling::EveryAck);
        bandwidth.add(at(0), 1.0);
        assert_eq!(bandwidth.estimate(), None);
        bandwidth.add(at(100), 1.0);
        assert!((bandwidth.estimate().unwrap() - 10.0).abs() < 1e-9);
        bandwidth.add(at(200), 3.0);
        assert!((bandwidth.estimate().unwrap() - 130.0 / 11.0).abs() < 1e-9);
    }

    #[test]
    fn silence_lowers_the_estimate() {
        // 0.5 s of silence at τ/m = 0.25 s: a = 0.75/1.25 = 0.6. From b̂ = b' = 10 with a sample of
        // zero: 6 + 0.4·5 = 8. Then 1 segment in the remaining 0.25 s, 4/s: 4.8 + 0.4·2 = 5.6.
        let mut bandwidth = Bandwidth::new(Sampling::EveryAck);
        bandwidth.add(at(0), 1.0);
        bandwidth.add(at(100), 1.0);
        bandwidth.add(at(600), 1.0);
        assert!((bandwidth.estimate().unwrap() - 5.6).abs() < 1e-9);
        // However long the silence.
        bandwidth.add(at(100_000_000), 1.0);
        assert!(bandwidth.estimate().unwrap() < 1.0);
    }

    #[test]
    fn once_a_round_trip_takes_the_bunch_as_one() {
        // RTT 0.1 s. 10 segments in 0.1 s: 100/s; then 20: 0.9·100 + 0.1·200 = 110.
        let mut bandwidth = Bandwidth::new(Sampling::EveryRtt);
        bandwidth.set_rtt(0.1);
        bandwidth.add(at(0), 1.0);
        for _ in 0..9 {
            bandwidth.add(at(1), 1.0);
        }
        assert_eq!(bandwidth.estimate(), None);
        bandwidth.add(at(100), 1.0);
        assert!((bandwidth.estimate().unwrap() - 100.0).abs() < 1e-9);
        bandwidth.add(at(200), 20.0);
        assert!((bandwidth.estimate().unwrap() - 110.0).abs() < 1e-9);
    }
}
