//! The settings of a transport except its congestion control, by family of rules.

use crate::check::{Checked, between, fail, not_negative, packet, positive};
use serde::{Deserialize, Serialize};

/// The families of rules. In JSON `{"ns2": {…}}` or `{"modern": {…}}`, with the settings that are not left at
/// their defaults.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// As the papers' simulator: established from the start, every packet acknowledged at once.
    Ns2(Ns2Profile),
    /// As hosts of today: handshake and teardown, delayed acknowledgements, RACK-TLP and SACK, ECN,
    /// pacing.
    Modern(ModernProfile),
}

/// A connection as the papers' simulator has it. The defaults are the `stock` row of the profiles' table with
/// Vegas' packet size.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ns2Profile {
    /// Receiver's window and initial slow-start threshold, in packets.
    pub window: u32,
    /// Initial window in packets, 1 or 2.
    pub initial_window: u32,
    /// Least retransmission timeout, in seconds.
    pub min_rto_s: f64,
    /// Retransmission timeout before the first measurement, in seconds.
    pub initial_rto_s: f64,
    /// Largest congestion window in packets; unset: none.
    pub max_cwnd: Option<u32>,
    /// Octets that a full data packet takes on links: the IPv4 total length, all options included.
    pub packet_octets: u32,
    /// Octets that an acknowledgement without options takes on links; the AQT option adds 8.
    pub ack_octets: u32,
    /// Granularity of the coarse timer, in seconds.
    pub tick_s: f64,
    /// Phase of the coarse clock against the run's, in seconds, within `[0, tick_s)`.
    pub phase_s: f64,
    /// Whether the floor is applied before backoff (RFC 2988) or after.
    pub rfc2988: bool,
    /// Limited transmit (RFC 3042).
    pub limited_transmit: bool,
    /// Suppresses a fast retransmit while packets sent before the last cut are missing (Vegas:
    /// before the last timeout).
    pub bugfix: bool,
    /// A SYN of 40 octets comes first, which takes a packet's number; Vegas has none.
    pub syn: bool,
    /// An acknowledgement whose range wraps past the end of the ring of send counts clears none
    /// of them, so that later packets look resent to Vegas.
    pub stale_send_counts: bool,
    /// A defect of its Vegas: after a timeout it may take the time between two acknowledgements
    /// of buffered data for a round-trip time, and starve.
    pub phantom_rtt: bool,
    /// Congestion controls take round-trip times as differences of floating-point seconds, of which
    /// the last bits vary; else of whole nanoseconds.
    pub floating_rtt: bool,
    /// Reno, NewReno and SACK halve the window with its fraction, as ns-2 does from 2006 on; else in
    /// whole packets.
    pub exact_halving: bool,
}

/// A connection as hosts of today have it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModernProfile {
    /// Receiver's window in packets.
    pub window: u32,
    /// Initial window in packets.
    pub initial_window: u32,
    /// Least retransmission timeout, in seconds.
    pub min_rto_s: f64,
    /// Retransmission timeout before the first measurement, in seconds.
    pub initial_rto_s: f64,
    /// Largest congestion window in packets; unset: none.
    pub max_cwnd: Option<u32>,
    /// Octets that a full data packet takes on links: the IPv4 total length, all options included.
    pub packet_octets: u32,
    /// How long an acknowledgement may wait for a second packet, in seconds; 0: not at all.
    pub delayed_ack_s: f64,
    /// What congestion marks mean. With `ci` they are indications only; DCTCP has them accurate in any
    /// case.
    pub ecn: EcnName,
    /// Whether acknowledgements carry the option with counters of octets (RFC 9768, §3.2.3), where both ends count marks.
    pub ecn_option: bool,
    /// Whether a window is spread over its round trip; if not, only as the congestion control asks.
    pub pacing: bool,
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

impl Default for Profile {
    fn default() -> Self {
        Profile::Ns2(Ns2Profile::default())
    }
}

impl Default for Ns2Profile {
    fn default() -> Self {
        Ns2Profile {
            window: 1000,
            initial_window: 2,
            min_rto_s: 0.2,
            initial_rto_s: 3.0,
            max_cwnd: None,
            packet_octets: 1000,
            ack_octets: 40,
            tick_s: 0.01,
            phase_s: 0.0,
            rfc2988: true,
            limited_transmit: true,
            bugfix: false,
            syn: false,
            stale_send_counts: true,
            phantom_rtt: false,
            floating_rtt: true,
            exact_halving: false,
        }
    }
}

impl Default for ModernProfile {
    fn default() -> Self {
        ModernProfile {
            window: 1000,
            initial_window: 10,
            min_rto_s: 0.2,
            initial_rto_s: 1.0,
            max_cwnd: None,
            packet_octets: 1500,
            delayed_ack_s: 0.04,
            ecn: EcnName::Off,
            ecn_option: false,
            pacing: true,
        }
    }
}

/// A full packet of the modern profile has at least this much room besides all options.
const MIN_MODERN_OCTETS: u32 = 128;
/// The largest receive window (RFC 7323, §2.3), in octets.
const MAX_WINDOW_OCTETS: u64 = 65_535 << 14;
/// The largest window, in packets.
const MAX_WINDOW: u32 = 1 << 24;

impl Profile {
    /// Checks ranges. `path` is the profile's.
    ///
    /// # Errors
    /// The first mistake, with its place and what is valid.
    pub fn check(&self, path: &str) -> Checked {
        match self {
            Profile::Ns2(ns2) => ns2.check(&format!("{path}.ns2")),
            Profile::Modern(modern) => modern.check(&format!("{path}.modern")),
        }
    }
}

impl Ns2Profile {
    fn check(&self, path: &str) -> Checked {
        let at = |name: &str| format!("{path}.{name}");
        positive(at("initial_rto_s"), self.initial_rto_s)?;
        not_negative(at("min_rto_s"), self.min_rto_s)?;
        between(at("window"), self.window, 1, MAX_WINDOW)?;
        packet(at("packet_octets"), self.packet_octets)?;
        positive(at("tick_s"), self.tick_s)?;
        if !(0.0..self.tick_s).contains(&self.phase_s) {
            return fail(at("phase_s"), "must be within [0, tick_s)");
        }
        between(at("initial_window"), self.initial_window, 1, 2)?;
        packet(at("ack_octets"), self.ack_octets)
    }
}

impl ModernProfile {
    fn check(&self, path: &str) -> Checked {
        let at = |name: &str| format!("{path}.{name}");
        positive(at("initial_rto_s"), self.initial_rto_s)?;
        not_negative(at("min_rto_s"), self.min_rto_s)?;
        between(at("window"), self.window, 1, MAX_WINDOW)?;
        let octets = self.packet_octets;
        between(at("packet_octets"), octets, MIN_MODERN_OCTETS, 65_535)?;
        not_negative(at("delayed_ack_s"), self.delayed_ack_s)?;
        between(at("initial_window"), self.initial_window, 1, 1000)?;
        let most = MAX_WINDOW_OCTETS / u64::from(octets);
        if u64::from(self.window) > most {
            let message = format!("must be at most {most}: a window has 2^30 octets");
            return fail(at("window"), message);
        }
        Ok(())
    }
}
