//! Quick Vegas (Chan 2004, §5.3): Vegas for paths with a large bandwidth-delay product.
//!
//! Continued growth accelerates, a reduction removes all the excess at once, and between α and β
//! the window moves towards the middle. It adjusts only every other round, so that the effect is
//! visible before the next adjustment.

use crate::controller::{Controller, Factory, Limits};
use crate::registry::{Control, Recovery, Setting};
use crate::vegas::avoidance::{Avoidance, Backlog, Step};
use crate::vegas::machine::Machine;
use crate::vegas::meter::Plain;
use crate::vegas::{self, Quirks, VegasConfig};

pub(crate) static QUICK_VEGAS: Control = Control {
    name: "quickvegas",
    label: "Quick Vegas",
    summary: "Vegas for long fat paths",
    source: "Chan 2004, §5.3",
    recovery: Recovery::Vegas,
    marks: &[],
    needs: &[],
    settings: &[
        Setting::packets("alpha", 2.0, vegas::ALPHA.summary),
        Setting::packets("beta", 4.0, vegas::BETA.summary),
        vegas::GAMMA,
    ],
    factory: |settings, rules| {
        Box::new(QuickVegasConfig {
            vegas: VegasConfig::of(settings, rules),
        })
    },
};

/// Settings of [`QuickVegas`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuickVegasConfig {
    /// The thresholds.
    pub vegas: VegasConfig,
}

impl Default for QuickVegasConfig {
    /// α, β, γ = 2, 4, 1.
    fn default() -> Self {
        QuickVegasConfig {
            vegas: VegasConfig {
                alpha: 2.0,
                beta: 4.0,
                gamma: 1.0,
                quirks: Quirks::NS2,
            },
        }
    }
}

impl QuickVegasConfig {
    /// Creates a controller for a new connection.
    pub fn build(&self, limits: &Limits) -> QuickVegas {
        let accelerating = Accelerating {
            alpha: self.vegas.alpha,
            beta: self.vegas.beta,
            succ: 0.0,
            rest: false,
        };
        Machine::with(self.vegas, Plain::default(), accelerating, limits)
    }
}

impl Factory for QuickVegasConfig {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        Box::new(self.build(limits))
    }
}

/// Vegas' machinery with a count of consecutive increases.
pub type QuickVegas = Machine<Plain, Accelerating>;

/// The window adjustment of §5.3.
#[derive(Clone, Copy, Debug)]
pub struct Accelerating {
    alpha: f64,
    beta: f64,
    /// Number of consecutive adjustments with `Δ < α`.
    succ: f64,
    /// Whether the next round makes no change.
    rest: bool,
}

impl Avoidance for Accelerating {
    fn step(&mut self, backlog: &Backlog, cwnd: f64) -> Step {
        if std::mem::take(&mut self.rest) {
            return Step::hold(cwnd);
        }
        self.rest = true;
        let delta = backlog.delta;
        let middle = (self.alpha + self.beta) / 2.0;
        if delta < self.alpha {
            // (5.1), spread over the acknowledgements of a round. At most doubles the window.
            self.succ += 1.0;
            let increment = ((self.beta - delta) * self.succ / cwnd).min(1.0);
            return Step { cwnd, increment };
        }
        self.succ = 0.0;
        if delta > self.beta {
            // (5.2)
            Step::cut(cwnd, delta - middle)
        } else if delta > middle {
            Step::cut(cwnd, 1.0)
        } else if delta < middle {
            Step::grow(cwnd)
        } else {
            Step::hold(cwnd)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::AckEvent;
    use units::{Duration, Instant};

    /// An adjustment and the following round without a change.
    fn adjust(quick: &mut Accelerating, delta: f64, cwnd: f64) -> (f64, f64) {
        let backlog = Backlog {
            diff: delta,
            delta,
            throughput: 100.0,
            rtt: 0.1,
        };
        let step = quick.step(&backlog, cwnd);
        assert_eq!(quick.step(&backlog, cwnd), Step::hold(cwnd));
        (step.cwnd, step.increment)
    }

    fn quick() -> Accelerating {
        *QuickVegasConfig::default()
            .build(&Limits::default())
            .avoidance()
    }

    #[test]
    fn growth_that_goes_on_accelerates() {
        // (5.1), α, β = 2, 4, Δ = 1, window 30: (4 − 1)·1/30, (4 − 1)·2/30, (4 − 1)·3/30 per ACK.
        let mut quick = quick();
        assert_eq!(adjust(&mut quick, 1.0, 30.0), (30.0, 0.1));
        assert_eq!(adjust(&mut quick, 1.0, 30.0), (30.0, 0.2));
        assert_eq!(adjust(&mut quick, 1.0, 30.0), (30.0, 0.3));
        // Δ ≥ α ends the series.
        assert_eq!(adjust(&mut quick, 3.0, 30.0), (30.0, 0.0));
        assert_eq!(adjust(&mut quick, 1.0, 30.0), (30.0, 0.1));
    }

    #[test]
    fn a_window_at_most_doubles() {
        // (4 − 0)·1 > 3: one segment per new acknowledgement.
        assert_eq!(adjust(&mut quick(), 0.0, 3.0), (3.0, 1.0));
    }

    #[test]
    fn a_cut_takes_the_excess_over_the_middle() {
        // (5.2): 30 − (9 − 3) = 24.
        assert_eq!(adjust(&mut quick(), 9.0, 30.0), (24.0, 0.0));
    }

    #[test]
    fn between_the_thresholds_the_window_steps_to_the_middle() {
        assert_eq!(adjust(&mut quick(), 4.0, 30.0), (29.0, 0.0));
        assert_eq!(adjust(&mut quick(), 3.0, 30.0), (30.0, 0.0));
        assert_eq!(adjust(&mut quick(), 2.0, 30.0), (30.0, 1.0 / 30.0));
    }

    #[test]
    fn a_small_window_doubles_in_a_round() {
        let mut quick = QuickVegasConfig::default().build(&Limits {
            initial_ssthresh: 2.0,
            ..Limits::default()
        });
        let at = |ms| Instant::from_micros(1000 * ms);
        let ack = |ms, acked, next| AckEvent {
            now: at(ms),
            acked,
            newly_acked: 1,
            next,
            rtt: Some(Duration::from_millis(100)),
            ..AckEvent::default()
        };
        // Slow start ends at a threshold of 2. Δ = 0 from then on, so (5.1) gives 4/2 > 1 per ACK.
        quick.on_sent(at(0), 0);
        quick.on_ack(&ack(100, 1, 1));
        let mut windows = Vec::new();
        for round in 1..=4u64 {
            let first = 2 * round - 1;
            (first..first + 2).for_each(|segment| quick.on_sent(at(100 * round), segment));
            quick.on_ack(&ack(100 * (round + 1), first + 1, first + 2));
            quick.on_ack(&ack(100 * (round + 1), first + 2, first + 2));
            windows.push(quick.cwnd());
        }
        assert!(windows.is_sorted() && windows[3] >= 4.0, "{windows:?}");
    }
}
