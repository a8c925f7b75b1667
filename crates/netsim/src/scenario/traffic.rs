//! What hosts send: TCP transfers, and open-loop sources.

use super::{Control, Mark};
use crate::trace::Keep;
use serde::{Deserialize, Serialize};
use units::{Duration, Instant};

/// A TCP transfer: `from` sends, `to` acknowledges.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Its name in records; unset: `"flow0"`, `"flow1"`, …
    #[serde(default)]
    pub name: Option<String>,
    /// The sending host.
    pub from: String,
    /// The receiving host.
    pub to: String,
    /// The congestion control.
    pub control: Control,
    /// The transport's settings.
    #[serde(default)]
    pub profile: Profile,
    /// Whether data and acknowledgements carry the AQT option; unset: as the congestion control needs.
    #[serde(default)]
    pub aqt: Option<bool>,
    /// Whether data is marked capable of congestion indication (ECN field 0b10), and marks are
    /// echoed; with a congestion control that reads CI, they are in any case.
    #[serde(default)]
    pub ci: bool,
    /// Whether packets carry the AVBW-S option; unset: as the congestion control needs.
    #[serde(default)]
    pub avbw: Option<bool>,
    /// Marks that data and acknowledgements carry beside AQT and AVBW-S.
    #[serde(default)]
    pub marks: Vec<Mark>,
    /// Whether packets carry timestamps (RFC 7323); unset: as the congestion control needs.
    #[serde(default)]
    pub timestamps: Option<bool>,
    /// When it begins, in seconds.
    #[serde(default)]
    pub start_s: f64,
    /// When it stops sending, in seconds; unset: never.
    #[serde(default)]
    pub stop_s: Option<f64>,
    /// Packets of data to send; unset: without end.
    #[serde(default)]
    pub segments: Option<u64>,
    /// Whether to record its window, threshold and round-trip times at every change.
    #[serde(default)]
    pub trace: bool,
    /// Which of these changes are kept.
    #[serde(default)]
    pub tracing: Tracing,
}

/// Which changes a trace keeps; by default all.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tracing {
    /// None before, in seconds.
    pub from_s: f64,
    /// None from here on, in seconds; unset: to the end.
    pub to_s: Option<f64>,
    /// Rows are at least so far apart, in seconds; timeouts are kept in any case.
    pub every_s: f64,
}

impl Tracing {
    pub(crate) fn keep(&self) -> Keep {
        Keep {
            from: Instant::from_secs_f64(self.from_s),
            to: self.to_s.map_or(Instant::MAX, Instant::from_secs_f64),
            apart: Duration::from_secs_f64(self.every_s),
        }
    }
}

/// Settings of a TCP connection. Some belong to one of the profiles and are not looked at, or refused,
/// in the other. The defaults of the ns-2 profile are the `stock` row of the profiles' table with
/// Vegas' packet size.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Profile {
    /// The family of rules.
    pub kind: ProfileKind,
    /// Receiver's window in packets; in the ns-2 profile also the initial slow-start threshold.
    pub window: u32,
    /// Initial window in packets; unset: 2 in the ns-2 profile, which has 1 or 2, and 10 in the modern.
    pub initial_window: Option<u32>,
    /// Least retransmission timeout, in seconds.
    pub min_rto_s: f64,
    /// Retransmission timeout before the first measurement, in seconds; unset: 3 in the ns-2 profile, 1
    /// in the modern.
    pub initial_rto_s: Option<f64>,
    /// Largest congestion window in packets; unset: none.
    pub max_cwnd: Option<u32>,
    /// Octets that a full data packet takes on links: the IPv4 total length, all options included.
    pub packet_octets: u32,
    /// Modern: how long an acknowledgement may wait for a second packet, in seconds; 0: not at all.
    pub delayed_ack_s: f64,
    /// Modern: what congestion marks mean. With `ci` they are indications only; DCTCP has them
    /// accurate in any case.
    pub ecn: EcnName,
    /// Modern: whether a window is spread over its round trip; if not, only as the congestion control
    /// asks.
    pub pacing: bool,
    /// ns-2: octets that an acknowledgement without options takes on links; the AQT option adds 8.
    pub ack_octets: u32,
    /// ns-2: granularity of the coarse timer, in seconds.
    pub tick_s: f64,
    /// ns-2: phase of the coarse clock against the run's, in seconds, within `[0, tick_s)`.
    pub phase_s: f64,
    /// ns-2: whether the floor is applied before backoff (RFC 2988) or after.
    pub rfc2988: bool,
    /// ns-2: limited transmit (RFC 3042); the modern profile always does so.
    pub limited_transmit: bool,
    /// ns-2: suppresses a fast retransmit while packets sent before the last cut are missing (Vegas:
    /// before the last timeout).
    pub bugfix: bool,
    /// ns-2: a SYN of 40 octets comes first, which takes a packet's number; Vegas has none.
    pub syn: bool,
    /// ns-2: an acknowledgement whose range wraps past the end of the ring of send counts clears none
    /// of them, so that later packets look resent to Vegas.
    pub stale_send_counts: bool,
    /// ns-2: a defect of its Vegas: after a timeout it may take the time between two acknowledgements
    /// of buffered data for a round-trip time, and starve.
    pub phantom_rtt: bool,
    /// ns-2: congestion controls take round-trip times as differences of floating-point seconds, of which
    /// the last bits vary; else of whole nanoseconds.
    pub floating_rtt: bool,
    /// Reno, NewReno and SACK halve the window with its fraction, as ns-2 does from 2006 on; else in
    /// whole packets.
    pub exact_halving: bool,
}

/// The families of rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProfileKind {
    /// As the papers' simulator: established from the start, every packet acknowledged at once.
    #[default]
    Ns2,
    /// As hosts of today: handshake and teardown, delayed acknowledgements, RACK-TLP and SACK, ECN,
    /// pacing.
    Modern,
}

/// What congestion marks (ECN) mean to a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EcnName {
    /// Not capable.
    #[default]
    Off,
    /// As a loss, once a window (RFC 3168).
    Classic,
    /// Each is echoed (RFC 8257).
    Accurate,
}

/// Open-loop traffic: datagrams of one size, at a constant rate while on.
///
/// With `i` = size · 8 / rate, a burst is `max(1, ⌊X + ½⌋)` packets, `i` apart, X of mean
/// `mean_on_s / i`; then comes an idle time plus one `i`. The source starts with an idle time plus `i`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Its name in records; unset: `"source0"`, `"source1"`, …
    #[serde(default)]
    pub name: Option<String>,
    /// The sending host.
    pub from: String,
    /// The receiving host.
    pub to: String,
    /// How bursts and idle times are drawn.
    pub kind: SourceKind,
    /// Bits per second while on.
    pub rate_bps: f64,
    /// Mean length of a burst in seconds (exponential, Pareto).
    #[serde(default)]
    pub mean_on_s: Option<f64>,
    /// Mean idle time in seconds (exponential, Pareto).
    #[serde(default)]
    pub mean_off_s: Option<f64>,
    /// Instead of `mean_off_s`: the mean rate, from which it follows as
    /// `mean_on_s · (rate_bps / mean_rate_bps − 1)`.
    #[serde(default)]
    pub mean_rate_bps: Option<f64>,
    /// Pareto's shape, above 1 (Pareto).
    #[serde(default)]
    pub shape: Option<f64>,
    /// Octets of a packet on links: the IPv4 total length.
    #[serde(default = "thousand")]
    pub packet_octets: u32,
    /// When it begins, in seconds.
    #[serde(default)]
    pub start_s: f64,
    /// When it stops, in seconds; unset: never.
    #[serde(default)]
    pub stop_s: Option<f64>,
}

/// The kinds of open-loop traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceKind {
    /// Always on: the first packet at `start_s`.
    Cbr,
    /// Exponential bursts and idle times.
    Exponential,
    /// Pareto bursts and idle times.
    Pareto,
}

impl Flow {
    /// Its name, given or made of its place `index` among the flows.
    pub fn name(&self, index: usize) -> String {
        self.name.clone().unwrap_or_else(|| format!("flow{index}"))
    }
}

impl Source {
    /// Its name, given or made of its place `index` among the sources.
    pub fn name(&self, index: usize) -> String {
        self.name
            .clone()
            .unwrap_or_else(|| format!("source{index}"))
    }
}

impl Default for Profile {
    fn default() -> Self {
        Profile {
            kind: ProfileKind::Ns2,
            window: 1000,
            initial_window: None,
            min_rto_s: 0.2,
            initial_rto_s: None,
            delayed_ack_s: 0.04,
            ecn: EcnName::Off,
            pacing: true,
            tick_s: 0.01,
            phase_s: 0.0,
            rfc2988: true,
            limited_transmit: true,
            max_cwnd: None,
            bugfix: false,
            syn: false,
            packet_octets: 1000,
            ack_octets: 40,
            stale_send_counts: true,
            phantom_rtt: false,
            floating_rtt: true,
            exact_halving: false,
        }
    }
}

fn thousand() -> u32 {
    1000
}
