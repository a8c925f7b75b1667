//! Waymark: all three marks in one transport.
//!
//! Each mark answers the question that it answers best. AQT (RoVegas) says how much of the flow is
//! waiting on the way there, and so whether the window grows or shrinks; DRAI (Muzha) how fast, and
//! where the path has room to spare, that it grows in any case; CI (RedVegas) whether a loss was
//! congestion's. A path whose hops are silent leaves Vegas.
//!
//! No paper has it: the thresholds are Vegas', the factors Muzha's (Lien and Chung, table 3.1). A
//! round's factor is spread over its acknowledgements, so that nothing leaves in bursts.

use crate::controller::{Controller, Factory, Limits};
use crate::red_vegas::Judging;
use crate::registry::{Control, Mark, Recovery};
use crate::rovegas::{Deployment, FULL_DEPLOYMENT, Marks};
use crate::vegas::avoidance::{Avoidance, Backlog, Linear, Step};
use crate::vegas::machine::Machine;
use crate::vegas::{self, VegasConfig};

pub(crate) static WAYMARK: Control = Control {
    name: "waymark",
    label: "Waymark",
    summary: "RoVegas' measure, Muzha's pace, losses judged as by RedVegas",
    source: "this project",
    recovery: Recovery::Vegas,
    marks: &[Mark::Aqt, Mark::Avbw, Mark::Ci],
    needs: &[],
    settings: &[vegas::ALPHA, vegas::BETA, vegas::GAMMA, FULL_DEPLOYMENT],
    factory: |settings, rules| {
        Box::new(WaymarkConfig {
            vegas: VegasConfig::of(settings, rules),
            deployment: Deployment::of(settings),
        })
    },
};

/// Settings of [`Waymark`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WaymarkConfig {
    /// The thresholds; β is also how far a loss may lie from a mark.
    pub vegas: VegasConfig,
    /// How many of the path's hops speak.
    pub deployment: Deployment,
}

impl WaymarkConfig {
    /// A Waymark at the start of its connection.
    pub fn build(&self, limits: &Limits) -> Waymark {
        let VegasConfig { alpha, beta, .. } = self.vegas;
        let guided = Guided {
            unguided: Linear { alpha, beta },
        };
        let meter = Marks::new(self.deployment);
        Judging::new(Machine::with(self.vegas, meter, guided, limits), beta)
    }
}

impl Factory for WaymarkConfig {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        Box::new(self.build(limits))
    }
}

/// RoVegas' measure, Muzha's pace, RedVegas' judgement of losses.
pub type Waymark = Judging<Marks, Guided>;

/// Vegas' direction at the pace that the hops advise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guided {
    unguided: Linear,
}

/// What every acknowledgement of a round adds where the path has room to spare: the round's factor
/// less one.
fn acceleration(index: u8) -> Option<f64> {
    match index {
        6 => Some(2.0),
        5 => Some(0.75),
        _ => None,
    }
}

impl Avoidance for Guided {
    fn step(&mut self, backlog: &Backlog, cwnd: f64) -> Step {
        if let Some(increment) = backlog.mrai.and_then(acceleration) {
            return Step { cwnd, increment };
        }
        let Linear { alpha, beta } = self.unguided;
        match backlog.mrai {
            Some(1) if backlog.delta > beta => Step::cut(cwnd, cwnd / 4.0),
            Some(4) if backlog.delta < alpha => Step::grow_by(cwnd, 2.0),
            _ => self.unguided.step(backlog, cwnd),
        }
    }

    /// Hops that speak know the path's capacity; there is nothing to probe for.
    fn rules_slow_start(&self, backlog: &Backlog) -> bool {
        backlog.mrai.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The step after a round that ended with a window of 8, `delta` segments waiting.
    fn step(mrai: Option<u8>, delta: f64) -> (f64, f64) {
        step_of(8.0, mrai, delta)
    }

    fn step_of(cwnd: f64, mrai: Option<u8>, delta: f64) -> (f64, f64) {
        let unguided = Linear {
            alpha: 1.0,
            beta: 3.0,
        };
        let backlog = Backlog {
            diff: delta,
            delta,
            throughput: 100.0,
            rtt: 0.1,
            mrai,
        };
        let step = Guided { unguided }.step(&backlog, cwnd);
        (step.cwnd, step.increment)
    }

    #[test]
    fn room_to_spare_accelerates_whatever_waits() {
        for delta in [0.0, 2.0, 5.0] {
            assert_eq!(step(Some(6), delta), (8.0, 2.0));
            assert_eq!(step(Some(5), delta), (8.0, 0.75));
        }
    }

    /// The papers' simulator can leave one after a recovery.
    #[test]
    fn an_empty_window_grows_as_one_of_a_segment() {
        assert_eq!(step_of(0.0, Some(4), 0.0), (0.0, 2.0));
        assert_eq!(step_of(0.0, None, 0.0), (0.0, 1.0));
    }

    #[test]
    fn else_the_backlog_says_whether_and_the_index_how_fast() {
        for (mrai, few, some, many) in [
            (Some(4), (8.0, 0.25), (8.0, 0.0), (7.0, 0.0)),
            (Some(3), (8.0, 0.125), (8.0, 0.0), (7.0, 0.0)),
            (Some(2), (8.0, 0.125), (8.0, 0.0), (7.0, 0.0)),
            (Some(1), (8.0, 0.125), (8.0, 0.0), (6.0, 0.0)),
            (None, (8.0, 0.125), (8.0, 0.0), (7.0, 0.0)),
        ] {
            assert_eq!(step(mrai, 0.0), few, "index {mrai:?}");
            assert_eq!(step(mrai, 2.0), some, "index {mrai:?}");
            assert_eq!(step(mrai, 4.0), many, "index {mrai:?}");
        }
    }
}
