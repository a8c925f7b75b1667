//! Growth towards the available bandwidth that hops report. If all senders multiply their windows by `η/U`, the worst
//! hop, with utilisation `U`, is filled up to `η`. This is HPCC's increase (Li et al. 2019, equation 4), with CSIG's
//! ABW/C for `1 − U`.

use units::{Duration, Instant};

use crate::event::PathSignal;

/// `η`: the target utilisation.
const AIM: f64 = 0.95;
/// The maximum factor of a step, as in slow start.
const MOST: f64 = 2.0;

/// Determines when the window may grow again.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RampUp {
    again_at: Option<Instant>,
}

impl RampUp {
    /// The factor for the window. Hops must measure the effect of the initial window, or of a step, before the next
    /// step: an interval may have begun before it, and is reported until the next one is complete.
    pub(crate) fn factor(&mut self, now: Instant, rtt: Duration, signal: &PathSignal) -> f64 {
        let Some(share) = signal.available_share else {
            return 1.0;
        };
        let utilisation = 1.0 - share;
        let measured_at = now + rtt + signal.interval + signal.interval;
        let again_at = *self.again_at.get_or_insert(measured_at);
        if utilisation >= AIM || now < again_at {
            return 1.0;
        }
        self.again_at = Some(measured_at);
        (AIM / utilisation).min(MOST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signal(available_share: Option<f64>) -> PathSignal {
        PathSignal {
            hop_delay: None,
            available_share,
            interval: Duration::from_millis(2),
        }
    }

    fn factor_at(ramp: &mut RampUp, ms: u64, share: f64) -> f64 {
        let now = Instant::from_micros(1000 * ms);
        ramp.factor(now, Duration::from_millis(10), &signal(Some(share)))
    }

    #[test]
    fn the_rest_of_the_worst_hop_is_taken() {
        let factor = |share| {
            let mut ramp = RampUp::default();
            factor_at(&mut ramp, 0, share);
            factor_at(&mut ramp, 14, share)
        };
        // .95/.5, .95/.75; at most 2; no growth from .95 on.
        assert_eq!(factor(0.5), 1.9);
        assert!((factor(0.25) - 1.266_667).abs() < 1e-6);
        assert_eq!([factor(0.75), factor(1.0)], [2.0, 2.0]);
        assert_eq!([factor(0.05 - 1e-9), factor(0.0)], [1.0, 1.0]);
        let mut silent = RampUp::default();
        let silent = silent.factor(Instant::ZERO, Duration::ZERO, &signal(None));
        assert_eq!(silent, 1.0);
    }

    #[test]
    fn a_step_waits_for_a_round_trip_and_two_intervals() {
        let mut ramp = RampUp::default();
        let factors = [0, 13, 14, 20, 28].map(|ms| factor_at(&mut ramp, ms, 0.5));
        assert_eq!(factors, [1.0, 1.0, 1.9, 1.0, 1.9]);
    }
}
