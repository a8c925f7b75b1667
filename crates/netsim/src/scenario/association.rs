//! SCTP associations between hosts with several interfaces.

use serde::{Deserialize, Serialize};

/// An SCTP association: `from` sets it up and sends, `to` acknowledges. Path `i` connects the `i`th interfaces of both
/// hosts.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Association {
    /// Its name in records. Defaults to `"association0"`, `"association1"`, …
    #[serde(default)]
    pub name: Option<String>,
    /// The sending host.
    pub from: String,
    /// The receiving host.
    pub to: String,
    /// The congestion control of a path.
    #[serde(default)]
    pub control: PathControl,
    /// Whether to switch the path on congestion (Dahal 2007, §6.1.2).
    #[serde(default)]
    pub spc: bool,
    /// Threshold RTTs of the paths in seconds, for RBCA and SPC. The last one applies to all further paths.
    #[serde(default)]
    pub thresholds_s: Vec<f64>,
    /// Whether SACKs may be delayed. Defaults to true, except with RBCA.
    #[serde(default)]
    pub delayed_sack: Option<bool>,
    /// Whether packets carry the Timestamp chunk. Defaults to whether RBCA or SPC need it.
    #[serde(default)]
    pub timestamps: Option<bool>,
    /// The other settings.
    #[serde(default)]
    pub profile: AssociationProfile,
    /// When it is set up, in seconds.
    #[serde(default)]
    pub start_s: f64,
    /// When it stops writing, in seconds. Defaults to never.
    #[serde(default)]
    pub stop_s: Option<f64>,
    /// Number of full DATA chunks to send. Defaults to unlimited.
    #[serde(default)]
    pub chunks: Option<u64>,
    /// Changes of the primary path during the run.
    #[serde(default)]
    pub primary: Vec<PrimaryChange>,
    /// Whether to record the windows and round-trip times of the paths, and the delay of every packet.
    #[serde(default)]
    pub trace: bool,
}

/// The congestion control of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PathControl {
    /// RFC 9260, §7.2.
    #[default]
    Std,
    /// RTT-based congestion avoidance (Dahal 2007, §6.1.1).
    Rbca,
}

/// A change of the primary path.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrimaryChange {
    /// The time of the change, in seconds.
    pub at_s: f64,
    /// The path's number, from 0.
    pub path: u32,
}

/// Settings of an association. The defaults are those of Dahal 2007, §6.2.1.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AssociationProfile {
    /// Path MTU in octets.
    pub mtu: u32,
    /// Octets of a DATA chunk, including its header of 16 octets.
    pub chunk_octets: u32,
    /// Receive window in octets.
    pub window: u32,
    /// Initial slow-start threshold in octets.
    pub ssthresh: u32,
    /// Initial window in full packets.
    pub initial_packets: u32,
    /// Initial window in octets, instead of packets.
    pub initial_octets: Option<u32>,
    /// Minimum window after a reduction in full packets: 2 (RFC 2960), 4 (RFC 9260).
    pub least_packets: u32,
    /// Retransmission timeout before the first measurement, in seconds.
    pub rto_initial_s: f64,
    /// Minimum retransmission timeout, in seconds.
    pub rto_min_s: f64,
    /// Maximum retransmission timeout, in seconds.
    pub rto_max_s: f64,
    /// Number of errors after which the peer is considered unreachable.
    pub association_max_retrans: u32,
    /// Number of errors after which a path becomes inactive.
    pub path_max_retrans: u32,
    /// How often INIT and COOKIE ECHO are retransmitted.
    pub max_init_retransmits: u32,
    /// Heartbeat interval of an idle path, in seconds. Defaults to never.
    pub heartbeat_s: Option<f64>,
    /// How long a SACK may wait for a second packet, in seconds.
    pub sack_delay_s: f64,
    /// Missing reports that trigger a fast retransmission.
    pub missing_reports: u8,
    /// The most packets that may be sent in response to a SACK that acknowledges a fast retransmission. Defaults to
    /// unlimited.
    pub max_burst: Option<u32>,
    /// Enables deviations of ns-2.35 from RFC 9260 ([`transport::sctp::Quirks`]).
    pub ns2_quirks: bool,
}

impl Association {
    /// Its name, given or derived from its index among the associations.
    pub fn name(&self, index: usize) -> String {
        let made = || format!("association{index}");
        self.name.clone().unwrap_or_else(made)
    }

    /// Whether its paths need thresholds.
    pub(crate) fn needs_thresholds(&self) -> bool {
        self.spc || self.control == PathControl::Rbca
    }
}

impl Default for AssociationProfile {
    fn default() -> Self {
        AssociationProfile {
            mtu: 1500,
            chunk_octets: 1456,
            window: 1_310_720,
            ssthresh: 65_536,
            initial_packets: 2,
            initial_octets: None,
            least_packets: 2,
            rto_initial_s: 3.0,
            rto_min_s: 1.0,
            rto_max_s: 60.0,
            association_max_retrans: 10,
            path_max_retrans: 5,
            max_init_retransmits: 8,
            heartbeat_s: Some(30.0),
            sack_delay_s: 0.2,
            missing_reports: 4,
            max_burst: Some(4),
            ns2_quirks: false,
        }
    }
}
