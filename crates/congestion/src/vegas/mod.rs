//! Vegas (Brakmo and Peterson 1995; Chan 2004, §2.2): keeps α to β of its own segments queued.
//!
//! Once per round trip, `Δ = (Expected − Actual)·BaseRTT` (Chan 2.1) estimates the number of queued segments: the
//! expected throughput is the window divided by the propagation delay, the actual throughput the segments sent in the
//! round divided by its mean RTT. Below α the window grows by one segment per round, above β it shrinks by one. Slow
//! start doubles the window every other round until Δ exceeds γ.
//!
//! [`machine`] contains the rounds and the window; [`meter`] measures delays, and [`avoidance`] adjusts the window
//! after a round. Variants replace the latter two. Retransmissions by fine-grained timeout belong to loss recovery.

pub mod avoidance;
pub mod machine;
pub mod meter;

use crate::controller::{Controller, Factory, Limits};
use crate::registry::{Control, Recovery, Rules, Setting, Settings};
use avoidance::MIN_WINDOW;
use machine::Machine;
use meter::Plain;

pub(crate) static VEGAS: Control = Control {
    name: "vegas",
    label: "Vegas",
    summary: "keeps α to β of its segments queued",
    source: "Brakmo and Peterson 1995; Chan 2004, §2.2",
    recovery: Recovery::Vegas,
    marks: &[],
    needs: &[],
    settings: &THRESHOLDS,
    factory: |settings, rules| Box::new(VegasConfig::of(settings, rules)),
};

/// The thresholds, which the variants share.
pub(crate) static THRESHOLDS: [Setting; 3] = [ALPHA, BETA, GAMMA];
pub(crate) const ALPHA: Setting =
    Setting::packets("alpha", 1.0, "minimum number of packets to keep queued");
pub(crate) const BETA: Setting =
    Setting::packets("beta", 3.0, "maximum number of packets to keep queued");
pub(crate) const GAMMA: Setting =
    Setting::packets("gamma", 1.0, "queued packets at which slow start ends");

/// Settings of Vegas and of the machinery that its variants share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VegasConfig {
    /// The window grows below this many queued segments.
    pub alpha: f64,
    /// The window shrinks above this many queued segments.
    pub beta: f64,
    /// Slow start ends above this many queued segments.
    pub gamma: f64,
    /// Deviations of the papers' simulator from the algorithm.
    pub quirks: Quirks,
}

/// Deviations of the papers' simulator from the algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quirks {
    /// A round without a valid sample uses the time since its start as its RTT, even if the packet that opened it had
    /// been sent before. After a timeout that packet may still be in flight, or wait at the receiver, and its
    /// acknowledgement arrives immediately: base RTT falls to the time between two ACKs, and the flow starves. This is
    /// a defect; off unless a run is compared with that simulator's.
    pub phantom_rtt: bool,
    /// A timeout resets the window to which the next recovery deflates, so that cwnd can become 0 and the flow waits
    /// for the timer once more.
    pub zero_window: bool,
    /// Decides like exact arithmetic and the controls in C: the times of a round are whole ticks of 1/256 µs; a backlog
    /// of half a segment minus 2^-33 counts as half; a window that exceeds its bound by less than 2^-20 of a segment,
    /// which is the error of sums of fractions such as 1/20, is at the bound. Floating-point errors then have no effect
    /// on decisions.
    pub fixed_point: bool,
}

/// The maximum floating-point error of a backlog in segments. Backlogs other than half a segment differ from it by
/// more, for round trips of up to 8 s.
const LOST_OF_DIFF: f64 = 1.0 / (1_u64 << 33) as f64;
/// The ticks of a mean round-trip time, and the maximum floating-point error in ticks.
const TICKS_PER_S: f64 = 256e6;
const LOST_OF_TICKS: f64 = 1.0 / (1_u64 << 16) as f64;

impl Quirks {
    /// No deviations: the modern profile.
    pub const NONE: Quirks = Quirks {
        phantom_rtt: false,
        zero_window: false,
        fixed_point: false,
    };
    /// The papers' simulator without its defect: the setting of the experiments.
    pub const NS2: Quirks = Quirks {
        phantom_rtt: false,
        zero_window: true,
        fixed_point: false,
    };
    /// The papers' simulator with its defect.
    pub const NS2_FAITHFUL: Quirks = Quirks {
        phantom_rtt: true,
        zero_window: true,
        fixed_point: false,
    };

    /// By how much a window may exceed its bound and still be at it, in segments.
    fn tie(self) -> f64 {
        if self.fixed_point {
            1.0 / (1 << 20) as f64
        } else {
            0.0
        }
    }

    /// Δ: a backlog rounded to the nearest segment, with halves rounded up.
    fn nearest(self, diff: f64) -> f64 {
        let lost = if self.fixed_point { LOST_OF_DIFF } else { 0.0 };
        (diff + 0.5 + lost).trunc()
    }

    /// The time of a round, in seconds.
    fn time(self, seconds: f64) -> f64 {
        if self.fixed_point {
            (seconds * TICKS_PER_S + LOST_OF_TICKS).floor() / TICKS_PER_S
        } else {
            seconds
        }
    }

    /// The window to which a recovery deflates if there was no reduction since the start or a timeout.
    fn forgotten_window(self) -> f64 {
        if self.zero_window { 0.0 } else { MIN_WINDOW }
    }
}

impl Default for VegasConfig {
    /// α, β, γ = 1, 3, 1.
    fn default() -> Self {
        VegasConfig {
            alpha: 1.0,
            beta: 3.0,
            gamma: 1.0,
            quirks: Quirks::NS2,
        }
    }
}

impl VegasConfig {
    /// The Vegas configuration of a control with the settings α, β and γ.
    pub(crate) fn of(settings: &Settings, rules: Rules) -> Self {
        VegasConfig {
            alpha: settings.number("alpha"),
            beta: settings.number("beta"),
            gamma: settings.number("gamma"),
            quirks: match (rules.modern, rules.phantom_rtt) {
                (true, _) => Quirks {
                    fixed_point: rules.fixed_point,
                    ..Quirks::NONE
                },
                (false, true) => Quirks::NS2_FAITHFUL,
                (false, false) => Quirks::NS2,
            },
        }
    }

    /// Creates a controller for a new connection.
    pub fn build(&self, limits: &Limits) -> Vegas {
        Machine::new(*self, Plain::default(), limits)
    }
}

impl Factory for VegasConfig {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        Box::new(self.build(limits))
    }
}

/// The algorithm itself: the shared machinery on plain round-trip times.
pub type Vegas = Machine<Plain>;
