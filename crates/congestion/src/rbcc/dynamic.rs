//! The threshold RTT, found by probing (Dahal 2007, §4.4): heuristics I to V.
//!
//! An occasion is an acknowledgement. In the probe phase each occasion is a probe. Changes are a percentage of the
//! threshold, divided by the number of changes of this kind so far, so that the threshold converges.

/// Number of probes after which the probe phase always ends.
const PROBE_CLAMP: u32 = 20;
/// Constants of §4.5.8.
const ALPHA_1: f64 = 12.0;
const ALPHA_2: f64 = 5.0;
const BETA_1: f64 = 5.0;
const BETA_2: f64 = 3.0;
const GAMMA_1: u32 = 2;
const GAMMA_2: u32 = 2;
const GAMMA_31: u32 = 5;
const GAMMA_32: i32 = -5;
const GAMMA_41: u32 = 15;
const GAMMA_42: u32 = 15;
const GAMMA_51: u32 = 15;
const GAMMA_52: u32 = 15;
/// Step 1: T starts at this factor of the minimum RTT.
const START: f64 = 1.10;
/// Step 4: the minimum of T after a decrease, as a factor of the minimum RTT.
const FLOOR: f64 = 1.025;

/// The state machine of figure 4.1. RTTs are in seconds, windows in segments.
#[derive(Clone, Debug)]
pub struct Dynamic {
    threshold: Option<f64>,
    min_rtt: f64,
    last_rtt: f64,
    last_cwnd: f64,
    /// Number of consecutive decreases of the RTT. Increases count as negative.
    rtt_count: i32,
    /// Number of consecutive acknowledgements after which cwnd had grown.
    grown: u32,
    /// Number of consecutive acknowledgements after which it had not.
    stalled: u32,
    phase: Phase,
}

#[derive(Clone, Debug)]
enum Phase {
    Probe {
        probes: u32,
        increments: f64,
        decrements: f64,
        incr_clamp: i32,
        decr_clamp: i32,
    },
    Normal {
        /// Number of consecutive occasions that looked lean, or bully.
        looks: [u32; 2],
        /// Number of consecutive lean states, or bully states.
        states: [f64; 2],
    },
}

const PROBE: Phase = Phase::Probe {
    probes: 0,
    increments: 0.0,
    decrements: 0.0,
    incr_clamp: -5,
    decr_clamp: -10,
};
const NORMAL: Phase = Phase::Normal {
    looks: [0; 2],
    states: [0.0; 2],
};
/// `decr_clamp` in the normal phase. Its `incr_clamp` of 10 is not used by any heuristic there.
const NORMAL_DECR_CLAMP: i32 = -10;

impl Default for Dynamic {
    fn default() -> Self {
        Dynamic {
            threshold: None,
            min_rtt: f64::INFINITY,
            last_rtt: f64::NAN,
            last_cwnd: 1.0,
            rtt_count: 0,
            grown: 0,
            stalled: 0,
            phase: PROBE,
        }
    }
}

impl Dynamic {
    /// T. `None` before the first RTT.
    pub fn threshold(&self) -> Option<f64> {
        self.threshold
    }

    /// Handles an RTT, before the window changes.
    pub(super) fn measure(&mut self, rtt: f64) {
        self.min_rtt = self.min_rtt.min(rtt);
        self.threshold.get_or_insert(START * rtt);
        if rtt < self.last_rtt {
            self.rtt_count = self.rtt_count.max(0).saturating_add(1);
        } else if rtt > self.last_rtt {
            self.rtt_count = self.rtt_count.min(0).saturating_sub(1);
        } else {
            self.rtt_count = 0;
        }
        self.last_rtt = rtt;
    }

    /// Adjusts T after the window has changed.
    pub(super) fn adjust(&mut self, cwnd: f64) {
        if cwnd > self.last_cwnd {
            (self.grown, self.stalled) = (self.grown.saturating_add(1), 0);
        } else {
            (self.grown, self.stalled) = (0, self.stalled.saturating_add(1));
        }
        self.last_cwnd = cwnd;
        match self.phase {
            Phase::Probe { .. } => self.probe(cwnd),
            Phase::Normal { .. } => self.watch(cwnd),
        }
    }

    fn probe(&mut self, cwnd: f64) {
        let Phase::Probe {
            probes,
            increments,
            decrements,
            incr_clamp,
            decr_clamp,
        } = &mut self.phase
        else {
            return;
        };
        *probes += 1;
        // I: positive increment on probe.
        let idle = self.stalled >= GAMMA_1 && self.rtt_count >= 0 && cwnd <= 1.5;
        let alternate = *probes % 2 == 0;
        let mut percent = 0.0;
        if idle || (alternate && self.rtt_count >= *incr_clamp) {
            *increments += 1.0;
            percent += ALPHA_1 / *increments;
        }
        // II: negative change on probe.
        if self.grown >= GAMMA_2 && self.rtt_count <= *decr_clamp {
            *decrements += 1.0;
            percent -= BETA_1 / *decrements;
        }
        *incr_clamp = (*incr_clamp + 1).min(2);
        *decr_clamp = (*decr_clamp + 1).min(-2);
        // III: end of the probe phase.
        let risen = self.grown >= GAMMA_31 && self.rtt_count <= GAMMA_32;
        if risen || *probes > PROBE_CLAMP {
            self.phase = NORMAL;
        }
        self.change(percent);
    }

    fn watch(&mut self, cwnd: f64) {
        let lean = self.stalled >= GAMMA_41 && self.rtt_count >= 0 && cwnd <= 2.0;
        let bully = self.grown >= GAMMA_51 && self.rtt_count <= NORMAL_DECR_CLAMP && cwnd > 2.0;
        let Phase::Normal { looks, states } = &mut self.phase else {
            return;
        };
        looks[0] = if lean { looks[0] + 1 } else { 0 };
        looks[1] = if bully { looks[1] + 1 } else { 0 };
        let percent = if looks[0] > GAMMA_42 {
            // IV
            *states = [states[0] + 1.0, 0.0];
            ALPHA_2 / states[0]
        } else if looks[1] > GAMMA_52 {
            // V
            *states = [0.0, states[1] + 1.0];
            -BETA_2 / states[1]
        } else {
            return;
        };
        // Step 3c.
        *looks = [0; 2];
        (self.grown, self.stalled, self.rtt_count) = (0, 0, 0);
        self.change(percent);
    }

    fn change(&mut self, percent: f64) {
        let Some(threshold) = &mut self.threshold else {
            return;
        };
        let changed = *threshold * (1.0 + percent / 100.0);
        *threshold = if percent < 0.0 {
            changed.max(FLOOR * self.min_rtt)
        } else {
            changed
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(dynamic: &Dynamic, expected: f64) {
        let threshold = dynamic.threshold().unwrap();
        assert!(
            (threshold - expected).abs() < 1e-9,
            "{threshold}, expected {expected}"
        );
    }

    fn occasions(
        dynamic: &mut Dynamic,
        count: u32,
        rtt: impl Fn(u32) -> f64,
        cwnd: impl Fn(u32) -> f64,
    ) {
        for i in 0..count {
            dynamic.measure(rtt(i));
            dynamic.adjust(cwnd(i));
        }
    }

    fn normal(threshold: f64) -> Dynamic {
        Dynamic {
            threshold: Some(threshold),
            phase: NORMAL,
            ..Dynamic::default()
        }
    }

    #[test]
    fn probes_raise_the_threshold_by_less_each_time() {
        // Step 1: 1.1·0.1. Heuristic I on alternate occasions: 12 % at the second probe, 6 % at the fourth. cwnd grows,
        // so that only rtt_count ≥ incr_clamp holds.
        let mut dynamic = Dynamic::default();
        occasions(&mut dynamic, 1, |_| 0.1, |_| 2.0);
        near(&dynamic, 0.11);
        occasions(&mut dynamic, 3, |_| 0.1, |i| 3.0 + f64::from(i));
        near(&dynamic, 0.11 * 1.12 * 1.06);
    }

    #[test]
    fn a_window_and_an_rtt_that_grow_end_the_probe() {
        // Heuristic III: five increases of cwnd with five increases of the RTT.
        let mut dynamic = Dynamic::default();
        occasions(
            &mut dynamic,
            6,
            |i| 0.1 + 0.001 * f64::from(i),
            |i| 2.0 + f64::from(i),
        );
        assert!(matches!(dynamic.phase, Phase::Normal { .. }));
    }

    #[test]
    fn twenty_probes_end_the_probe() {
        let mut dynamic = Dynamic::default();
        occasions(&mut dynamic, 20, |_| 0.1, |_| 1.0);
        assert!(matches!(dynamic.phase, Phase::Probe { .. }));
        occasions(&mut dynamic, 1, |_| 0.1, |_| 1.0);
        assert!(matches!(dynamic.phase, Phase::Normal { .. }));
    }

    #[test]
    fn a_lean_flow_gets_more() {
        // Heuristic IV: 15 occasions without growth at cwnd ≤ 2, and 15 more: + 5 %, then + 2.5 %.
        let mut dynamic = normal(0.2);
        occasions(&mut dynamic, 29, |_| 0.1, |_| 1.0);
        near(&dynamic, 0.2);
        occasions(&mut dynamic, 1, |_| 0.1, |_| 1.0);
        near(&dynamic, 0.2 * 1.05);
        occasions(&mut dynamic, 30, |_| 0.1, |_| 1.0);
        near(&dynamic, 0.2 * 1.05 * 1.025);
    }

    #[test]
    fn a_bully_gets_less_down_to_the_floor() {
        // Heuristic V: − 3 %, but not below 1.025·0.1.
        for (threshold, after) in [(0.2, 0.2 * 0.97), (0.103, 0.1025)] {
            let mut dynamic = normal(threshold);
            occasions(
                &mut dynamic,
                31,
                |i| 0.1 + 0.001 * f64::from(i),
                |i| 3.0 + f64::from(i),
            );
            near(&dynamic, after);
        }
    }
}
