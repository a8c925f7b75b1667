//! Enhanced Vegas (Chan 2004, ch. 4): Vegas that separates its forward and backward delays by
//! end-to-end timestamps.
//!
//! Each direction's trip time is known except for the constant offset of the two clocks, so the
//! excess over its minimum is queueing. Queueing on the backward path therefore does not count
//! against the flow, without support from switches.

mod skew;

use crate::controller::{Controller, Factory, Limits};
use crate::event::AckEvent;
use crate::registry::{Control, Need, Recovery, Setting};
use crate::vegas::machine::Machine;
use crate::vegas::meter::{Measured, Meter, Plain};
use crate::vegas::{self, VegasConfig};
use skew::Trips;

pub(crate) static ENHANCED_VEGAS: Control = Control {
    name: "enhancedvegas",
    label: "Enhanced Vegas",
    summary: "RoVegas with measurements from timestamps instead of marks",
    source: "Chan 2004, ch. 4",
    recovery: Recovery::Vegas,
    marks: &[],
    needs: &[Need::Timestamps],
    settings: &[vegas::ALPHA, vegas::BETA, vegas::GAMMA, SKEW_CORRECTION],
    factory: |settings, rules| {
        Box::new(EnhancedVegasConfig {
            vegas: VegasConfig::of(settings, rules),
            skew_correction: settings.flag("skew_correction"),
        })
    },
};

const SKEW_CORRECTION: Setting =
    Setting::flag("skew_correction", true, "correct for clock drift (§4.5)");

/// Settings of [`EnhancedVegas`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EnhancedVegasConfig {
    /// The thresholds.
    pub vegas: VegasConfig,
    /// Whether to estimate the skew between the clocks, and to move the minima with it (4.5).
    pub skew_correction: bool,
}

impl Default for EnhancedVegasConfig {
    fn default() -> Self {
        EnhancedVegasConfig {
            vegas: VegasConfig::default(),
            skew_correction: true,
        }
    }
}

impl EnhancedVegasConfig {
    /// Creates a controller for a new connection.
    pub fn build(&self, limits: &Limits) -> EnhancedVegas {
        let stamps = Stamps {
            plain: Plain::default(),
            newest: None,
            trips: None,
            skew_correction: self.skew_correction,
        };
        Machine::new(self.vegas, stamps, limits)
    }
}

impl Factory for EnhancedVegasConfig {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        Box::new(self.build(limits))
    }
}

/// Vegas' machinery on timestamps.
pub type EnhancedVegas = Machine<Stamps>;

/// Delays from timestamps. Acknowledgements without timestamps follow Vegas' rules.
#[derive(Clone, Debug)]
pub struct Stamps {
    plain: Plain,
    /// RTT minus `QT_b` of the round's newest sample.
    newest: Option<f64>,
    trips: Option<Trips>,
    skew_correction: bool,
}

/// `t_ab` and `t_ba` (4.2), in seconds.
fn trips(ack: &AckEvent) -> Option<(f64, f64)> {
    let seconds = |ns: i64| ns as f64 / 1e9;
    Some((seconds(ack.ts_forward?), seconds(ack.ts_backward?)))
}

impl Stamps {
    /// Records the trip times of an acknowledgement. Returns the backward queueing time.
    fn measure(&mut self, ack: &AckEvent) -> Option<f64> {
        let (forward, backward) = trips(ack)?;
        let at = ack.now.as_secs_f64();
        let trips = self.trips.get_or_insert_default();
        trips.add(at, forward, backward);
        let drift = match self.skew_correction {
            true => trips.drift(),
            false => 0.0,
        };
        let (least_forward, least_backward) = trips.minima(at, drift);
        // BaseRTT is the sum of the fixed delays (4.3). The offsets cancel out.
        let base = least_forward + least_backward;
        if base > 0.0 {
            self.plain.set_base(base);
        }
        // (4.4)
        Some(backward - least_backward)
    }
}

impl Meter for Stamps {
    fn first(&mut self, rtt: f64, ack: &AckEvent) {
        self.plain.set_base(rtt);
        self.measure(ack);
    }

    fn sample(&mut self, rtt: f64, ack: &AckEvent) {
        self.plain.add(rtt);
        match self.measure(ack) {
            Some(queued) => self.newest = Some(rtt - queued.clamp(0.0, rtt)),
            None => self.plain.lower_base(rtt),
        }
    }

    fn close(&mut self, elapsed: Option<f64>, sent: u64, _ack: &AckEvent) -> Option<Measured> {
        let newest = self.newest.take();
        let rtt = self.plain.take_rtt(elapsed)?;
        if self.trips.is_none() {
            self.plain.round_base(rtt, sent);
        }
        // Actual' = CWND/(RTT − QT_b) (4.1), as in RoVegas.
        Some(Measured {
            base: self.plain.base(),
            rtt: newest.unwrap_or(rtt).max(f64::MIN_POSITIVE),
            of_window: newest.is_some(),
        })
    }

    fn base(&self) -> f64 {
        self.plain.base()
    }
}

#[cfg(test)]
mod tests;
