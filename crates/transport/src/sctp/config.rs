//! Settings of an association.

use congestion::sctp::{Rbca, Sizes, Standard, Window};
use std::net::Ipv4Addr;
use thiserror::Error;
use units::Duration;

use super::packet::{DATA_HEADER_OCTETS, HEADER_OCTETS, TIMESTAMP_OCTETS};

/// Octets of an IPv4 header without options.
const IPV4_OCTETS: u32 = 20;
/// The minimum MTU of IPv4 hosts (RFC 791).
const MIN_MTU: u32 = 576;
const MAX_MTU: u32 = 65_535;

/// Settings of an association.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Addresses of this end, starting with that of the primary path. Path `i` connects the `i`th of them, cyclically
    /// if there are fewer here, with the peer's `i`th.
    pub addresses: Vec<Ipv4Addr>,
    /// Port of this end.
    pub port: u16,
    /// Key of the State Cookies' MAC. Tags, initial TSNs and the nonces of heartbeats are also derived from it, so it
    /// must differ between associations.
    pub secret: [u8; 32],
    /// Path MTU in octets, including the IPv4 header.
    pub mtu: u32,
    /// Octets of a full DATA chunk, including its header. `None` means as many as fit into a packet.
    pub chunk_octets: Option<u32>,
    /// Number of outbound streams to request.
    pub outbound_streams: u16,
    /// Maximum number of inbound streams.
    pub inbound_streams: u16,
    /// Receive window in octets.
    pub window: u32,
    /// Retransmission timeout before the first measurement (RTO.Initial).
    pub rto_initial: Duration,
    /// Minimum retransmission timeout (RTO.Min).
    pub rto_min: Duration,
    /// Maximum retransmission timeout (RTO.Max).
    pub rto_max: Duration,
    /// Number of errors after which the peer is considered unreachable (Association.Max.Retrans).
    pub association_max_retrans: u32,
    /// Number of errors after which a path becomes inactive (Path.Max.Retrans).
    pub path_max_retrans: u32,
    /// How often INIT and COOKIE ECHO are retransmitted (Max.Init.Retransmits).
    pub max_init_retransmits: u32,
    /// Heartbeat interval of an idle path (HB.interval). `None` means never.
    pub heartbeat: Option<Duration>,
    /// How long a State Cookie is valid (Valid.Cookie.Life).
    pub cookie_life: Duration,
    /// How long a SACK may wait for a second packet. `None` means that every packet is acknowledged at once.
    pub sack_delay: Option<Duration>,
    /// Missing reports that trigger a fast retransmission.
    pub missing_reports: u8,
    /// Limits of bursts.
    pub burst: Burst,
    /// Whether packets with DATA or SACK carry the Timestamp chunk, so that RTTs come from every packet.
    pub timestamps: bool,
    /// Window of a path before the first acknowledgement.
    pub initial_window: InitialWindow,
    /// Slow-start threshold before the first loss, in octets.
    pub ssthresh: u32,
    /// Minimum window after a reduction in full packets: 2 (RFC 2960), 4 (RFC 9260).
    pub least_packets: u32,
    /// The congestion control.
    pub control: Control,
    /// Whether to switch the path on congestion (Dahal 2007, §6.1.2), according to the thresholds.
    pub spc: bool,
    /// Threshold RTT of each path for RBCA and SPC. The last one applies to all further paths.
    pub thresholds: Vec<Duration>,
    /// Deviations of another implementation from the RFC.
    pub quirks: Quirks,
}

/// Deviations of ns-2.35 from RFC 9260. All are off by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quirks {
    /// The highest newly acknowledged TSN is kept from SACK to SACK, so that a SACK that acknowledges only an earlier
    /// retransmission also reports what is missing below it (§7.2.4: only TSNs that it newly acknowledges count).
    pub old_acknowledgements_count: bool,
    /// T3-rtx of a path continues when everything that was outstanding on it is retransmitted on another path, until
    /// the next SACK (§6.3.2 R2).
    pub timers_outlive_chunks: bool,
    /// All retransmissions at one SACK are sent on the path of the first, even if they were lost on it (§6.4: on a
    /// different path than before).
    pub bursts_keep_a_path: bool,
    /// A timeout sends no new data, even if it makes room for it. Only a SACK does.
    pub timeouts_hold_new_data: bool,
    /// Missing reports of a chunk that timed out count from the timeout on rather than from its retransmission, so that
    /// SACKs of earlier data cause another retransmission.
    pub reports_survive_timeouts: bool,
    /// A burst that ends among retransmissions may exceed the limit by one packet, and new data may follow.
    pub bursts_overrun: bool,
    /// A SACK that is sent immediately for a packet with only duplicates (§6.2) does not reset the packet count or the
    /// delay timer.
    pub copies_leave_the_count: bool,
    /// All paths share a heartbeat timer. When it expires, the path that has been idle longest is probed, if it has
    /// been idle since the timer started. An unanswered heartbeat is repeated at once, and every timeout of an inactive
    /// path sends one (§8.3: each path has its own interval).
    pub heartbeats_take_turns: bool,
    /// No data is sent before heartbeats have confirmed every path, including that of the handshake (§5.4: data may be
    /// sent on a confirmed path).
    pub data_waits_for_paths: bool,
    /// A chunk that was to measure the RTT when its path's window was reduced still measures it after another chunk was
    /// selected, so that there are several measurements at a time (§6.3.1 C4: one per round trip).
    pub stamps_outlive_losses: bool,
    /// A recovery ends with the highest TSN that was outstanding and not marked for retransmission when it began, so
    /// that marked chunks above it may start another recovery (§7.2.4: the highest outstanding TSN).
    pub marked_chunks_begin_recoveries: bool,
    /// Retransmissions at a timeout or SACK that leave chunks marked count in the burst of the next SACK that unmarks
    /// them all.
    pub bursts_carry_over: bool,
    /// The headers of chunks that wait in the receiver's buffer also take room in it.
    pub headers_fill_the_buffer: bool,
}

impl Quirks {
    /// All of these.
    pub const NS2: Quirks = Quirks {
        old_acknowledgements_count: true,
        timers_outlive_chunks: true,
        bursts_keep_a_path: true,
        timeouts_hold_new_data: true,
        reports_survive_timeouts: true,
        bursts_overrun: true,
        copies_leave_the_count: true,
        heartbeats_take_turns: true,
        data_waits_for_paths: true,
        stamps_outlive_losses: true,
        marked_chunks_begin_recoveries: true,
        bursts_carry_over: true,
        headers_fill_the_buffer: true,
    };
}

/// The maximum number of packets sent at one SACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Burst {
    /// Limited by the window only.
    Unlimited,
    /// Limited to this number if the SACK acknowledges a chunk that was fast retransmitted, as ns-2 interprets the
    /// implementer's guide.
    AfterRecovery(u32),
    /// Limited to this number (RFC 9260, §6.1 D, Max.Burst).
    Always(u32),
}

/// The congestion control of each path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// [`Standard`].
    Standard,
    /// [`Rbca`], with the path's threshold.
    Rbca,
}

/// The window of a path before the first acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialWindow {
    /// A number of full packets.
    Packets(u32),
    /// A number of octets.
    Octets(u32),
}

/// What is wrong with a configuration.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// No address.
    #[error("an association needs an address")]
    NoAddress,
    /// The MTU is out of range.
    #[error("the MTU is {0} octets; expected {MIN_MTU} to {MAX_MTU}")]
    Mtu(u32),
    /// A chunk does not fit into a packet or holds no data.
    #[error("a DATA chunk of {octets} octets; expected 17 to {most}, what a packet holds")]
    Chunk {
        /// The given octets.
        octets: u32,
        /// The maximum.
        most: u32,
    },
    /// A count or duration that must not be zero.
    #[error("{0} must be above 0")]
    Zero(&'static str),
    /// RBCA or SPC without a threshold, or without the timestamps that they need.
    #[error("RBCA and SPC need a threshold RTT and the Timestamp chunk")]
    NoThreshold,
}

impl Config {
    /// The values recommended in RFC 9260, §16, and its congestion control.
    pub fn rfc9260(addresses: Vec<Ipv4Addr>, port: u16, secret: [u8; 32]) -> Self {
        let seconds = |s: u64| Duration::from_millis(1000 * s);
        Config {
            addresses,
            port,
            secret,
            mtu: 1500,
            chunk_octets: None,
            outbound_streams: 10,
            inbound_streams: 2048,
            window: 1 << 18,
            rto_initial: seconds(1),
            rto_min: seconds(1),
            rto_max: seconds(60),
            association_max_retrans: 10,
            path_max_retrans: 5,
            max_init_retransmits: 8,
            heartbeat: Some(seconds(30)),
            cookie_life: seconds(60),
            sack_delay: Some(Duration::from_millis(200)),
            missing_reports: 3,
            burst: Burst::Always(4),
            timestamps: false,
            initial_window: InitialWindow::Octets(4404), // §7.2.1, at MTU 1500
            ssthresh: u32::MAX / 2,
            least_packets: 4,
            control: Control::Standard,
            spc: false,
            thresholds: Vec::new(),
            quirks: Quirks::default(),
        }
    }

    /// The settings of Dahal 2007, §6.2.1: "Std".
    pub fn dahal(addresses: Vec<Ipv4Addr>, port: u16, secret: [u8; 32]) -> Self {
        Config {
            chunk_octets: Some(1456),
            outbound_streams: 1,
            window: 1_310_720,
            rto_initial: Duration::from_millis(3000),
            missing_reports: 4,
            burst: Burst::AfterRecovery(4),
            initial_window: InitialWindow::Packets(2),
            ssthresh: 65_536,
            least_packets: 2,
            ..Config::rfc9260(addresses, port, secret)
        }
    }

    /// Checks the ranges of the values.
    ///
    /// # Errors
    /// The first invalid value.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.addresses.is_empty() {
            return Err(ConfigError::NoAddress);
        }
        if !(MIN_MTU..=MAX_MTU).contains(&self.mtu) {
            return Err(ConfigError::Mtu(self.mtu));
        }
        let most = self.max_data();
        let chunk = self.chunk_octets.unwrap_or(most);
        if !(DATA_HEADER_OCTETS as u32 + 1..=most).contains(&chunk) {
            return Err(ConfigError::Chunk {
                octets: chunk,
                most,
            });
        }
        let zero = [
            ("outbound_streams", self.outbound_streams == 0),
            ("inbound_streams", self.inbound_streams == 0),
            ("window", self.window == 0),
            ("rto_min", self.rto_min == Duration::ZERO),
            ("rto_initial", self.rto_initial == Duration::ZERO),
            ("missing_reports", self.missing_reports == 0),
            ("initial_window", self.initial_octets() == 0),
            ("least_packets", self.least_packets == 0),
        ];
        if let Some((name, _)) = zero.into_iter().find(|(_, zero)| *zero) {
            return Err(ConfigError::Zero(name));
        }
        let needs = self.spc || self.control == Control::Rbca;
        if needs && (self.thresholds.is_empty() || !self.timestamps) {
            return Err(ConfigError::NoThreshold);
        }
        Ok(())
    }

    /// The maximum octets of DATA chunks in a packet.
    pub fn max_data(&self) -> u32 {
        let timestamp = match self.timestamps {
            true => TIMESTAMP_OCTETS as u32,
            false => 0,
        };
        (self.mtu - IPV4_OCTETS - HEADER_OCTETS as u32 - timestamp) / 4 * 4
    }

    fn initial_octets(&self) -> u32 {
        match self.initial_window {
            InitialWindow::Packets(packets) => packets.saturating_mul(self.max_data()),
            InitialWindow::Octets(octets) => octets,
        }
    }

    /// User data of a full DATA chunk.
    pub fn fragment_octets(&self) -> usize {
        let chunk = self.chunk_octets.unwrap_or(self.max_data());
        chunk as usize - DATA_HEADER_OCTETS
    }

    /// The threshold RTT of a path.
    pub(super) fn threshold(&self, path: usize) -> Duration {
        let last = self.thresholds.last().copied();
        let threshold = self.thresholds.get(path).copied().or(last);
        threshold.unwrap_or(Duration::MAX)
    }

    /// Creates the congestion window of a path.
    pub(super) fn window_of(&self, path: usize) -> Box<dyn Window> {
        let max_data = self.max_data();
        let sizes = Sizes {
            max_data,
            initial: self.initial_octets(),
            ssthresh: self.ssthresh,
            least: self.least_packets.saturating_mul(max_data),
        };
        match self.control {
            Control::Standard => Box::new(Standard::new(sizes)),
            Control::Rbca => Box::new(Rbca::new(sizes, self.threshold(path))),
        }
    }
}
