//! Vegas-A (Srijith, Jacob and Ananda, §IV): Vegas with adaptive α and β.
//!
//! If throughput grows with backlog, the path has capacity that fixed thresholds would leave to others, so the
//! thresholds increase. The diff is not rounded; with rounding, this behaves like plain Vegas.

use crate::controller::{Controller, Factory, Limits};
use crate::registry::{Control, Recovery};
use crate::vegas::avoidance::{Avoidance, Backlog, Step};
use crate::vegas::machine::Machine;
use crate::vegas::meter::Plain;
use crate::vegas::{THRESHOLDS, VegasConfig};

/// The paper's pseudo-code has no minima; these are the initial values. Without them the thresholds decrease
/// permanently and the flow starves (`docs/departures/congestion.md`).
const MIN_ALPHA: f64 = 1.0;
const MIN_BETA: f64 = 3.0;

pub(crate) static VEGAS_A: Control = Control {
    name: "vegasa",
    label: "Vegas-A",
    summary: "Vegas whose thresholds adapt",
    source: "Srijith et al., §IV",
    recovery: Recovery::Vegas,
    marks: &[],
    needs: &[],
    settings: &THRESHOLDS,
    factory: |settings, rules| {
        Box::new(VegasAConfig {
            vegas: VegasConfig::of(settings, rules),
        })
    },
};

/// Settings of [`VegasA`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VegasAConfig {
    /// The initial thresholds.
    pub vegas: VegasConfig,
}

impl VegasAConfig {
    /// Creates a controller for a new connection.
    pub fn build(&self, limits: &Limits) -> VegasA {
        let adaptive = Adaptive {
            alpha: self.vegas.alpha.max(MIN_ALPHA),
            beta: self.vegas.beta.max(MIN_BETA),
            last_throughput: None,
        };
        Machine::with(self.vegas, Plain::default(), adaptive, limits)
    }
}

impl Factory for VegasAConfig {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        Box::new(self.build(limits))
    }
}

/// Vegas' machinery with adaptive thresholds.
pub type VegasA = Machine<Plain, Adaptive>;

/// The congestion avoidance of §IV.
#[derive(Clone, Copy, Debug)]
pub struct Adaptive {
    alpha: f64,
    beta: f64,
    /// `Th` of the preceding round.
    last_throughput: Option<f64>,
}

impl Adaptive {
    /// The current α and β.
    pub fn thresholds(&self) -> (f64, f64) {
        (self.alpha, self.beta)
    }

    fn lower(&mut self) {
        self.alpha = (self.alpha - 1.0).max(MIN_ALPHA);
        self.beta = (self.beta - 1.0).max(MIN_BETA);
    }
}

impl Avoidance for Adaptive {
    fn step(&mut self, backlog: &Backlog, cwnd: f64) -> Step {
        let Backlog {
            diff, throughput, ..
        } = *backlog;
        let last = self.last_throughput.replace(throughput);
        let grew = last.is_some_and(|last| throughput > last);
        let fell = last.is_some_and(|last| throughput < last);
        if diff > self.beta {
            self.lower();
            return Step::cut(cwnd, 1.0);
        }
        if diff < self.alpha {
            if self.alpha <= MIN_ALPHA || grew {
                return Step::grow(cwnd);
            }
            if fell {
                self.lower();
                return Step::cut(cwnd, 1.0);
            }
        } else if self.alpha < diff && diff < self.beta && grew {
            self.alpha += 1.0;
            self.beta += 1.0;
            return Step::grow(cwnd);
        }
        Step::hold(cwnd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adaptive(alpha: f64, beta: f64, last_throughput: f64) -> Adaptive {
        Adaptive {
            alpha,
            beta,
            last_throughput: Some(last_throughput),
        }
    }

    /// The step's window and increment, and the thresholds after it.
    fn step(mut adaptive: Adaptive, diff: f64, throughput: f64) -> ([f64; 2], (f64, f64)) {
        let backlog = Backlog {
            diff,
            delta: (diff + 0.5).trunc(),
            throughput,
            rtt: 0.1,
        };
        let step = adaptive.step(&backlog, 10.0);
        ([step.cwnd, step.increment], adaptive.thresholds())
    }

    const GROW: [f64; 2] = [10.0, 0.1];
    const HOLD: [f64; 2] = [10.0, 0.0];
    const CUT: [f64; 2] = [9.0, 0.0];

    #[test]
    fn between_the_thresholds_growing_throughput_raises_all_three() {
        // §IV, β > diff > α: 1.2 is between 1 and 3, though Vegas' Δ would be 1.
        assert_eq!(
            step(adaptive(1.0, 3.0, 80.0), 1.2, 81.0),
            (GROW, (2.0, 4.0))
        );
        assert_eq!(
            step(adaptive(1.0, 3.0, 80.0), 1.2, 80.0),
            (HOLD, (1.0, 3.0))
        );
    }

    #[test]
    fn below_alpha_the_throughput_decides_once_alpha_has_grown() {
        assert_eq!(
            step(adaptive(1.0, 3.0, 80.0), 0.4, 70.0),
            (GROW, (1.0, 3.0))
        );
        assert_eq!(
            step(adaptive(3.0, 5.0, 80.0), 0.4, 81.0),
            (GROW, (3.0, 5.0))
        );
        assert_eq!(step(adaptive(3.0, 5.0, 80.0), 0.4, 79.0), (CUT, (2.0, 4.0)));
        assert_eq!(
            step(adaptive(3.0, 5.0, 80.0), 0.4, 80.0),
            (HOLD, (3.0, 5.0))
        );
    }

    #[test]
    fn above_beta_all_three_fall_down_to_their_floors() {
        assert_eq!(step(adaptive(3.0, 5.0, 80.0), 5.1, 90.0), (CUT, (2.0, 4.0)));
        assert_eq!(step(adaptive(1.0, 3.0, 80.0), 3.1, 90.0), (CUT, (1.0, 3.0)));
    }
}
