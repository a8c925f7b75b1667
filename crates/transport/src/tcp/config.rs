//! Settings of a connection, and the presets of the experiments.

use congestion::Limits;
use units::Duration;

/// Settings of one connection; both ends need the same profile, sizes, marks and first numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The family of rules.
    pub profile: Profile,
    /// What detects and repairs losses.
    pub recovery: Recovery,
    /// The receiver's window, in segments; also the first slow-start threshold.
    pub window: u32,
    /// The first congestion window, in segments.
    pub initial_window: u32,
    /// A cap of the congestion window, in segments.
    pub max_cwnd: Option<u32>,
    /// The retransmission timer.
    pub rto: RtoConfig,
    /// Send a new segment on each of the first two duplicates (RFC 3042).
    pub limited_transmit: bool,
    /// Suppress a fast retransmit for losses of a window already cut by a timeout.
    pub bugfix: bool,
    /// A new acknowledgement whose range wraps past the end of the ring of send counts clears none of them,
    /// so that later segments look resent: as the papers' simulator does. It changes Vegas' samples and cuts.
    pub stale_send_counts: bool,
    /// Sizes on the wire.
    pub sizes: Sizes,
    /// Carry the AQT option on data and acknowledgements.
    pub aqt: bool,
    /// What the application has to send.
    pub supply: Supply,
    /// The sequence number of this side's first octet.
    pub local_start: u32,
    /// The sequence number of the other side's first octet.
    pub remote_start: u32,
    /// Record every change for [`super::Connection::poll_trace`].
    pub trace: bool,
}

/// The family of rules that a connection follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Profile {
    /// The papers' simulator, ns-2 2.1b9a: established from the start, every packet acknowledged at once.
    Ns2,
}

/// What detects and repairs losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Recovery {
    /// Start over from the missing segment on the third duplicate; goes with [`congestion::TahoeConfig`].
    Tahoe,
    /// Fast retransmit and fast recovery on the third duplicate.
    Reno,
    /// Reno that stays in recovery until everything sent before it is acknowledged, a hole a round trip.
    NewReno,
    /// Also on a fine-grained timeout that every duplicate, and the first new acknowledgements after, check.
    Vegas,
}

/// What the application has to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Supply {
    /// Nothing: a pure receiver.
    Nothing,
    /// So many full segments in all.
    Segments(u64),
    /// Always more.
    Endless,
}

/// The retransmission timer and the coarse clock under it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RtoConfig {
    /// The coarse clock's tick.
    pub tick: Duration,
    /// How far into a tick the coarse clock was at time zero.
    pub phase: Duration,
    /// The timeout before the first sample.
    pub initial: Duration,
    /// The smallest timeout.
    pub min: Duration,
    /// The largest timeout.
    pub max: Duration,
    /// The minimum applies before the backoff (RFC 2988), not after it.
    pub rfc2988: bool,
}

/// Sizes on the wire: IPv4 total lengths, and what links charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// A data packet, its IPv4 and TCP headers and AQT option included, in octets.
    pub data_octets: u32,
    /// An acknowledgement without options, in octets.
    pub ack_octets: u32,
}

/// IPv4 and TCP headers without options.
pub(crate) const HEADER_OCTETS: u32 = 40;
/// The AQT option.
pub(crate) const AQT_OCTETS: u32 = 8;

impl Config {
    /// The setting of the recorded traces: tick 0.1 s, no RFC 2988, minimum RTO 0, initial window 1, no
    /// limited transmit.
    pub fn ns2_trace(recovery: Recovery) -> Self {
        Config {
            initial_window: 1,
            limited_transmit: false,
            rto: RtoConfig {
                tick: Duration::from_millis(100),
                min: Duration::ZERO,
                rfc2988: false,
                ..RtoConfig::STOCK
            },
            ..Config::stock(recovery)
        }
    }

    /// The simulator's defaults of the time: Kurata's, and Lien and Chung's experiments.
    pub fn stock(recovery: Recovery) -> Self {
        Config {
            profile: Profile::Ns2,
            recovery,
            window: 1000,
            initial_window: 2,
            max_cwnd: None,
            rto: RtoConfig::STOCK,
            limited_transmit: true,
            bugfix: false,
            stale_send_counts: true,
            sizes: Sizes {
                data_octets: 1000,
                ack_octets: 40,
            },
            aqt: false,
            supply: Supply::Endless,
            local_start: 0,
            remote_start: 0,
            trace: false,
        }
    }

    /// Chan's experiments: [`Config::stock`] with initial window 1, minimum RTO 1 s, no limited transmit.
    pub fn chan(recovery: Recovery) -> Self {
        Config {
            initial_window: 1,
            limited_transmit: false,
            rto: RtoConfig {
                min: Duration::from_millis(1000),
                ..RtoConfig::STOCK
            },
            ..Config::stock(recovery)
        }
    }

    /// Srijith's experiments: tick 0.1 s, minimum RTO 0, no RFC 2988, no limited transmit.
    pub fn srijith(recovery: Recovery) -> Self {
        Config {
            initial_window: 2,
            ..Config::ns2_trace(recovery)
        }
    }

    /// The other end: same rules and numbers, nothing to send.
    pub fn peer(&self) -> Self {
        Config {
            supply: Supply::Nothing,
            local_start: self.remote_start,
            remote_start: self.local_start,
            trace: false,
            ..self.clone()
        }
    }

    /// Payload octets of a data packet.
    pub fn payload(&self) -> u32 {
        let options = if self.aqt { AQT_OCTETS } else { 0 };
        self.sizes
            .data_octets
            .saturating_sub(HEADER_OCTETS + options)
            .max(1)
    }

    /// What the congestion control has to know.
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            initial_window: f64::from(self.initial_window),
            initial_ssthresh: f64::from(self.window),
            max_cwnd: self.max_cwnd.map(f64::from),
        }
    }
}

impl RtoConfig {
    /// Tick 10 ms, 3 s before the first sample, 0.2 s to 60 s, RFC 2988.
    pub const STOCK: RtoConfig = RtoConfig {
        tick: Duration::from_millis(10),
        phase: Duration::ZERO,
        initial: Duration::from_millis(3000),
        min: Duration::from_millis(200),
        max: Duration::from_millis(60_000),
        rfc2988: true,
    };
}
