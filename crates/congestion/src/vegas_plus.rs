//! Vegas⁺ (Hasegawa, Kurata and Murata, ICNP 2000; surveyed by Srijith et al., §III.A): Vegas that
//! becomes Reno when it competes with Reno.
//!
//! In moderate mode it is Vegas. An RTT that increases although the window did not grow indicates
//! other flows that fill the queue: each such round increments a count, and each round with a
//! decreasing RTT decrements it. At `count_max` it becomes aggressive: growth and reduction are
//! Reno's. A loss detected by duplicates halves the count, and a timeout resets it; at zero it
//! becomes moderate again. The survey does not give a value for the parameter; the default is ours.

use crate::controller::{Controller, Factory, Limits};
use crate::registry::{Control, Recovery};
use crate::vegas::avoidance::{Avoidance, Backlog, Linear, Step};
use crate::vegas::machine::Machine;
use crate::vegas::meter::Plain;
use crate::vegas::{THRESHOLDS, VegasConfig};

pub(crate) static VEGAS_PLUS: Control = Control {
    name: "vegasplus",
    label: "Vegas⁺",
    summary: "Vegas that switches to Reno when it competes with Reno",
    source: "Hasegawa, Kurata and Murata 2000",
    recovery: Recovery::Vegas,
    marks: &[],
    needs: &[],
    settings: &THRESHOLDS,
    factory: |settings, rules| {
        Box::new(VegasPlusConfig {
            vegas: VegasConfig::of(settings, rules),
            ..VegasPlusConfig::default()
        })
    },
};

/// Settings of [`VegasPlus`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VegasPlusConfig {
    /// The thresholds of moderate mode.
    pub vegas: VegasConfig,
    /// `count_max`: the count at which it becomes aggressive.
    pub count_max: u32,
}

impl Default for VegasPlusConfig {
    /// Vegas' thresholds; `count_max` = 8.
    fn default() -> Self {
        VegasPlusConfig {
            vegas: VegasConfig::default(),
            count_max: 8,
        }
    }
}

impl VegasPlusConfig {
    /// Creates a controller for a new connection.
    pub fn build(&self, limits: &Limits) -> VegasPlus {
        let moods = Moods {
            moderate: Linear {
                alpha: self.vegas.alpha,
                beta: self.vegas.beta,
            },
            count_max: self.count_max,
            count: 0,
            mode: Mode::Moderate,
            last: None,
        };
        Machine::with(self.vegas, Plain::default(), moods, limits)
    }
}

impl Factory for VegasPlusConfig {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        Box::new(self.build(limits))
    }
}

/// Vegas' machinery with two modes.
pub type VegasPlus = Machine<Plain, Moods>;

/// The mode of a Vegas⁺.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// As Vegas.
    Moderate,
    /// As Reno.
    Aggressive,
}

/// Two modes, and the count between them.
#[derive(Clone, Copy, Debug)]
pub struct Moods {
    moderate: Linear,
    count_max: u32,
    count: u32,
    mode: Mode,
    /// The window and RTT of the preceding round.
    last: Option<(f64, f64)>,
}

impl Moods {
    /// The current mode.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    fn observe(&mut self, rtt: f64, cwnd: f64) {
        let Some((last_cwnd, last_rtt)) = self.last.replace((cwnd, rtt)) else {
            return;
        };
        if rtt > last_rtt && cwnd <= last_cwnd {
            self.set_count(self.count + 1);
        } else if rtt < last_rtt {
            self.set_count(self.count.saturating_sub(1));
        }
    }

    fn set_count(&mut self, count: u32) {
        self.count = count.min(self.count_max);
        if self.count >= self.count_max {
            self.mode = Mode::Aggressive;
        } else if self.count == 0 {
            self.mode = Mode::Moderate;
        }
    }
}

impl Avoidance for Moods {
    fn step(&mut self, backlog: &Backlog, cwnd: f64) -> Step {
        self.observe(backlog.rtt, cwnd);
        match self.mode {
            Mode::Moderate => self.moderate.step(backlog, cwnd),
            Mode::Aggressive => Step::grow(cwnd),
        }
    }

    fn on_loss(&mut self, window: u64) -> Option<u64> {
        let left = (self.mode == Mode::Aggressive).then_some(window / 2);
        self.set_count(self.count / 2);
        left
    }

    fn on_timeout(&mut self) {
        self.set_count(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moods() -> Moods {
        *VegasPlusConfig::default()
            .build(&Limits::default())
            .avoidance()
    }

    /// A round with a backlog above β = 3, in which Vegas would shrink the window.
    fn round(moods: &mut Moods, rtt_ms: u32, cwnd: f64) -> Step {
        let backlog = Backlog {
            diff: 5.0,
            delta: 5.0,
            throughput: 100.0,
            rtt: f64::from(rtt_ms) / 1000.0,
        };
        moods.step(&backlog, cwnd)
    }

    /// Rounds with an increasing RTT and a constant window, until it becomes aggressive.
    fn provoked() -> Moods {
        let mut moods = moods();
        for rtt_ms in 100..=108 {
            assert_eq!(moods.mode(), Mode::Moderate);
            round(&mut moods, rtt_ms, 10.0);
        }
        moods
    }

    #[test]
    fn eight_rises_without_growth_turn_it_aggressive() {
        let mut moods = provoked();
        assert_eq!((moods.mode(), moods.count), (Mode::Aggressive, 8));
        assert_eq!(round(&mut moods, 109, 10.0), Step::grow(10.0));
        assert_eq!(moods.on_loss(20), Some(10));
    }

    #[test]
    fn a_rise_with_growth_is_its_own_doing_and_a_fall_counts_down() {
        let mut moods = moods();
        round(&mut moods, 100, 10.0);
        round(&mut moods, 101, 10.0);
        round(&mut moods, 102, 10.0);
        assert_eq!(moods.count, 2);
        round(&mut moods, 103, 11.0);
        assert_eq!(moods.count, 2);
        assert_eq!(round(&mut moods, 99, 11.0), Step::cut(11.0, 1.0));
        assert_eq!(moods.count, 1);
        assert_eq!(moods.on_loss(20), None);
    }

    #[test]
    fn losses_and_falling_delays_calm_it() {
        // 8, halved to 4, 2, 1: still aggressive. A decreasing RTT removes the last.
        let mut moods = provoked();
        for count in [4, 2, 1] {
            moods.on_loss(20);
            assert_eq!((moods.mode(), moods.count), (Mode::Aggressive, count));
        }
        round(&mut moods, 90, 10.0);
        assert_eq!(moods.mode(), Mode::Moderate);
        let mut moods = provoked();
        moods.on_timeout();
        assert_eq!((moods.mode(), moods.count), (Mode::Moderate, 0));
    }
}
