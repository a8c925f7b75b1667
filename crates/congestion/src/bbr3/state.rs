//! BBRv3's states, and the gains of each (§5.6.1).

use units::Instant;

/// `BBR.StartupPacingGain`, 4 ln 2.
pub(super) const STARTUP_GAIN: f64 = 2.773;
/// `BBR.DrainPacingGain`
const DRAIN_GAIN: f64 = 0.5;
/// `BBR.DefaultCwndGain`, and that of ProbeBW_UP.
const CWND_GAIN: f64 = 2.0;
const UP_CWND_GAIN: f64 = 2.25;
/// `BBR.ProbeRTTCwndGain`
pub(super) const PROBE_RTT_CWND_GAIN: f64 = 0.5;

/// The state machine of §5.3.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum State {
    /// The rate doubles every round trip.
    Startup,
    /// The queue that Startup has built drains.
    Drain,
    /// ProbeBW_DOWN: the queue of the last probe drains.
    Down,
    /// ProbeBW_CRUISE: at the rate of the path.
    Cruise,
    /// ProbeBW_REFILL: the pipe is filled, for a round trip.
    Refill,
    /// ProbeBW_UP: faster than the rate of the path, to find out whether it can carry more.
    Up,
    /// Few segments are in flight, to measure the propagation delay.
    ProbeRtt {
        /// When it may end. `None` until few segments are in flight.
        until: Option<Instant>,
        /// Whether a round trip has passed with few segments in flight.
        round_done: bool,
    },
}

/// What arriving acknowledgements report about a probe (§5.3.3.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Acks {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

impl State {
    /// §5.6.1 and §5.3.3
    pub(super) fn pacing_gain(self) -> f64 {
        match self {
            State::Startup => STARTUP_GAIN,
            State::Drain => DRAIN_GAIN,
            State::Down => 0.9,
            State::Up => 1.25,
            State::Cruise | State::Refill | State::ProbeRtt { .. } => 1.0,
        }
    }

    pub(super) fn cwnd_gain(self) -> f64 {
        match self {
            State::Up => UP_CWND_GAIN,
            State::ProbeRtt { .. } => PROBE_RTT_CWND_GAIN,
            _ => CWND_GAIN,
        }
    }

    pub(super) fn is_probe_bw(self) -> bool {
        matches!(
            self,
            State::Down | State::Cruise | State::Refill | State::Up
        )
    }

    /// `IsProbingBW`: losses are an accepted cost of probing.
    pub(super) fn is_probing(self) -> bool {
        matches!(self, State::Startup | State::Refill | State::Up)
    }
}
