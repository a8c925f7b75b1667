//! RoVegas (Chan 2004, ch. 3): Vegas that reads queueing times from its packets.
//!
//! Every packet is a probe: the data segment collects its forward queueing time, the receiver
//! echoes it, and the acknowledgement collects its own. The propagation delay is therefore
//! *derived* from each RTT, and queueing on the backward path does not count against the flow.
//! Everything else is Vegas.

use crate::controller::{Controller, Factory, Limits};
use crate::event::AckEvent;
use crate::registry::{Control, Mark, Recovery, Setting, Settings};
use crate::vegas::machine::Machine;
use crate::vegas::meter::{Measured, Meter, Plain};
use crate::vegas::{self, VegasConfig};

pub(crate) static ROVEGAS: Control = Control {
    name: "rovegas",
    label: "RoVegas",
    summary: "Vegas with propagation delay and forward queueing only",
    source: "Chan 2004, ch. 3",
    recovery: Recovery::Vegas,
    marks: &[Mark::Aqt],
    needs: &[],
    settings: &[vegas::ALPHA, vegas::BETA, vegas::GAMMA, FULL_DEPLOYMENT],
    factory: |settings, rules| {
        Box::new(RoVegasConfig {
            vegas: VegasConfig::of(settings, rules),
            deployment: Deployment::of(settings),
        })
    },
};

/// The setting of RoVegas and of controls that measure in the same way.
pub(crate) const FULL_DEPLOYMENT: Setting = Setting::flag(
    "full_deployment",
    true,
    "every hop adds to AQT, so that base RTT is each round's latest derived value; otherwise the minimum",
);

/// How many hops of the path write marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Deployment {
    /// All hops: the newest derived value of a round is base RTT, so that a longer route is
    /// detected immediately.
    #[default]
    Full,
    /// Some hops: the derived value still includes the queues of the other hops, so the minimum is
    /// used (§3.5.4).
    Gradual,
}

impl Deployment {
    /// The deployment according to [`FULL_DEPLOYMENT`].
    pub(crate) fn of(settings: &Settings) -> Self {
        match settings.flag(FULL_DEPLOYMENT.name) {
            true => Deployment::Full,
            false => Deployment::Gradual,
        }
    }
}

/// Settings of [`RoVegas`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RoVegasConfig {
    /// The thresholds, which use the Diff of (3.5).
    pub vegas: VegasConfig,
    /// How many hops of the path write marks.
    pub deployment: Deployment,
}

impl RoVegasConfig {
    /// Creates a controller for a new connection.
    pub fn build(&self, limits: &Limits) -> RoVegas {
        Machine::new(self.vegas, Marks::new(self.deployment), limits)
    }
}

impl Factory for RoVegasConfig {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        Box::new(self.build(limits))
    }
}

/// Vegas' machinery on the marks.
pub type RoVegas = Machine<Marks>;

/// Delays from the AQT option. Acknowledgements without it follow Vegas' rules.
#[derive(Clone, Debug)]
pub struct Marks {
    deployment: Deployment,
    plain: Plain,
    /// RTT minus `QT_b` of the round's newest sample. A mark without information counts as zero.
    newest: Option<f64>,
    /// The round's newest derived value.
    derived: Option<f64>,
}

impl Marks {
    /// Creates a meter before the first acknowledgement.
    pub(crate) fn new(deployment: Deployment) -> Self {
        Marks {
            deployment,
            plain: Plain::default(),
            newest: None,
            derived: None,
        }
    }
}

/// `BaseRTT = RTT − (AQT + AQT-Echo)` (3.4). `None` for a saturated mark, or one that exceeds the
/// RTT.
fn derive_base(rtt: f64, ack: &AckEvent) -> Option<f64> {
    let forward = ack.aqt_echo?.exact()?;
    let backward = ack.aqt_backward?.exact()?;
    let base = rtt - (forward + backward).as_secs_f64();
    (base > 0.0).then_some(base)
}

/// `QT_b` in seconds, if the mark is exact and does not exceed `rtt`.
fn backward(rtt: f64, ack: &AckEvent) -> f64 {
    let told = ack.aqt_backward.and_then(|mark| mark.exact());
    told.map(|time| time.as_secs_f64())
        .filter(|time| *time < rtt)
        .unwrap_or(0.0)
}

/// Whether the acknowledgement carries the option, so that Vegas' own base rules do not apply.
fn marked(ack: &AckEvent) -> bool {
    ack.aqt_echo.is_some() && ack.aqt_backward.is_some()
}

impl Meter for Marks {
    fn first(&mut self, rtt: f64, ack: &AckEvent) {
        self.plain.set_base(derive_base(rtt, ack).unwrap_or(rtt));
    }

    fn sample(&mut self, rtt: f64, ack: &AckEvent) {
        self.plain.add(rtt);
        self.newest = marked(ack).then(|| rtt - backward(rtt, ack));
        let derived = derive_base(rtt, ack);
        match self.deployment {
            _ if !marked(ack) => self.plain.lower_base(rtt),
            Deployment::Full => self.derived = derived.or(self.derived),
            Deployment::Gradual => self.plain.lower_base(derived.unwrap_or(f64::INFINITY)),
        }
    }

    fn close(&mut self, elapsed: Option<f64>, sent: u64, ack: &AckEvent) -> Option<Measured> {
        let derived = self.derived.take();
        let newest = self.newest.take();
        let rtt = self.plain.take_rtt(elapsed)?;
        match derived {
            Some(base) => self.plain.set_base(base),
            None if marked(ack) => {}
            None => self.plain.round_base(rtt, sent),
        }
        // Actual' = CWND/(RTT − QT_b) (3.3) with the "newly measured" RTT, where Vegas uses a
        // smoothed one. A round without a sample has only this acknowledgement's mark.
        Some(Measured {
            base: self.plain.base(),
            rtt: newest.unwrap_or_else(|| rtt - backward(rtt, ack)),
            of_window: marked(ack),
        })
    }

    fn base(&self) -> f64 {
        self.plain.base()
    }
}

#[cfg(test)]
mod tests;
