//! Low-pass filters, and random early drops that depend on a filtered value.

use crate::ControlError;
use units::{Duration, Instant};

/// The parameters of a filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FilterConfig {
    /// An exponential moving average of the samples. Its time constant is `rise` if the sample is above the average,
    /// and `fall` otherwise.
    Average {
        /// Time constant towards a larger sample.
        rise: Duration,
        /// Time constant towards a smaller sample.
        fall: Duration,
        /// The result is divided by 2^shift.
        shift: u32,
    },
    /// A sum of the samples that decays.
    Sum {
        /// Time constant.
        fall: Duration,
        /// The result is divided by 2^shift.
        shift: u32,
    },
    /// Random early drops: no drops while the average is below `low`, only drops from `high` on, and in between a drop
    /// probability that rises from 0 to `most`.
    EarlyDrop {
        /// Time constant of the average.
        constant: Duration,
        /// The average at which drops start.
        low: f64,
        /// The average from which all packets are dropped.
        high: f64,
        /// The probability just below `high`.
        most: f64,
    },
}

/// The kinds of filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterKind {
    /// Low-pass filters, which return the filtered value.
    LowPass,
    /// Random early drops.
    EarlyDrop,
}

/// A filter and its state.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter {
    /// Without a configuration, the filter returns the sample itself and drops nothing.
    pub config: Option<FilterConfig>,
    value: f64,
    at: Instant,
}

impl Filter {
    /// A filter without samples.
    pub fn new(config: Option<FilterConfig>) -> Self {
        Filter {
            config,
            ..Filter::default()
        }
    }

    /// The filtered value, rounded down, after a sample.
    pub fn pass(&mut self, now: Instant, sample: u64) -> u64 {
        let shift = match self.config {
            None => return sample,
            Some(FilterConfig::Average { rise, fall, shift }) => {
                let constant = if sample as f64 > self.value {
                    rise
                } else {
                    fall
                };
                self.average(now, sample, constant);
                shift
            }
            Some(FilterConfig::Sum { fall, shift }) => {
                self.value = self.value * self.decay(now, fall) + sample as f64;
                shift
            }
            Some(FilterConfig::EarlyDrop { constant, .. }) => {
                self.average(now, sample, constant);
                0
            }
        };
        (self.value as u64).checked_shr(shift).unwrap_or(0)
    }

    /// Whether a packet with this sample is dropped. `draw` is a random number.
    pub fn drops(&mut self, now: Instant, sample: u64, draw: u64) -> bool {
        let Some(FilterConfig::EarlyDrop {
            low, high, most, ..
        }) = self.config
        else {
            return false;
        };
        self.pass(now, sample);
        if self.value < low {
            return false;
        }
        if self.value >= high {
            return true;
        }
        let probability = most * (self.value - low) / (high - low);
        // A floating-point number represents 53 bits exactly.
        ((draw >> 11) as f64) < probability * (1u64 << 53) as f64
    }

    fn average(&mut self, now: Instant, sample: u64, constant: Duration) {
        let decay = self.decay(now, constant);
        self.value = sample as f64 + (self.value - sample as f64) * decay;
    }

    /// The factor by which a value has decayed since the last sample.
    fn decay(&mut self, now: Instant, constant: Duration) -> f64 {
        let passed = now.as_nanos().saturating_sub(self.at.as_nanos());
        self.at = now;
        match constant.as_nanos() {
            0 => 0.0,
            constant => libm::exp(-(passed as f64) / constant as f64),
        }
    }
}

impl FilterConfig {
    /// Rejects a configuration that is meaningless, or that filters of this kind do not support.
    pub fn check(&self, kind: FilterKind, at: impl FnOnce() -> String) -> Result<(), ControlError> {
        let (expected, found) = match (kind, self) {
            (FilterKind::LowPass, FilterConfig::EarlyDrop { .. }) => {
                ("an Average or a Sum, for a low-pass filter", "EarlyDrop")
            }
            (FilterKind::EarlyDrop, FilterConfig::Average { .. }) => {
                ("EarlyDrop, for random early drops", "an Average")
            }
            (FilterKind::EarlyDrop, FilterConfig::Sum { .. }) => {
                ("EarlyDrop, for random early drops", "a Sum")
            }
            _ => return self.check_values(at),
        };
        Err(ControlError::Invalid {
            at: at(),
            expected: expected.into(),
            found: found.into(),
        })
    }

    fn check_values(&self, at: impl FnOnce() -> String) -> Result<(), ControlError> {
        match *self {
            FilterConfig::EarlyDrop {
                low, high, most, ..
            } if !(0.0 <= low && low <= high && (0.0..=1.0).contains(&most)) => {
                Err(ControlError::Invalid {
                    at: at(),
                    expected: "0 ≤ low ≤ high and a probability from 0 to 1".into(),
                    found: format!("low {low}, high {high}, probability {most}"),
                })
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(time: u64) -> Instant {
        Instant::from_micros(time)
    }

    /// After one time constant, 1 − 1/e of a step: 632 of 1000.
    #[test]
    fn an_average_follows_a_step_with_its_time_constant() {
        let mut filter = Filter::new(Some(FilterConfig::Average {
            rise: Duration::from_micros(100),
            fall: Duration::from_micros(50),
            shift: 0,
        }));
        assert_eq!(filter.pass(us(0), 1000), 0);
        assert_eq!(filter.pass(us(100), 1000), 632);
        assert_eq!(filter.pass(us(200), 1000), 864);
        // Downwards, 1/e of 864.66 is left.
        assert_eq!(filter.pass(us(250), 0), 318);
    }

    #[test]
    fn a_sum_decays_and_is_scaled_down() {
        let mut filter = Filter::new(Some(FilterConfig::Sum {
            fall: Duration::from_micros(100),
            shift: 2,
        }));
        assert_eq!(filter.pass(us(0), 1000), 250);
        assert_eq!(filter.pass(us(0), 1000), 500);
        assert_eq!(filter.pass(us(100), 0), 183); // 2000 / e / 4
    }

    #[test]
    fn early_drops_begin_at_the_low_threshold_and_are_certain_at_the_high_one() {
        let mut filter = Filter::new(Some(FilterConfig::EarlyDrop {
            constant: Duration::ZERO,
            low: 10.0,
            high: 20.0,
            most: 0.5,
        }));
        assert!(!filter.drops(us(1), 9, 0));
        assert!(filter.drops(us(2), 20, u64::MAX));
        // Halfway: a quarter of the random numbers.
        assert!(filter.drops(us(3), 15, u64::MAX / 4 - 4096));
        assert!(!filter.drops(us(4), 15, u64::MAX / 4 + 4096));
    }

    #[test]
    fn without_a_configuration_a_sample_passes_and_nothing_is_dropped() {
        let mut filter = Filter::default();
        assert_eq!(filter.pass(us(1), 77), 77);
        assert!(!filter.drops(us(2), u64::MAX, 0));
    }
}
