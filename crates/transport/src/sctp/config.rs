//! Settings of an association.

use congestion::sctp::{Rbca, Sizes, Standard, Window};
use std::net::Ipv4Addr;
use thiserror::Error;
use units::Duration;

use super::packet::{DATA_HEADER_OCTETS, HEADER_OCTETS, TIMESTAMP_OCTETS};

/// Octets of an IPv4 header without options.
const IPV4_OCTETS: u32 = 20;
/// The least MTU of IPv4 hosts (RFC 791).
const MIN_MTU: u32 = 576;
const MAX_MTU: u32 = 65_535;

/// Settings of an association.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Addresses of this end, the one of the primary path first; path `i` goes from the `i`th of them to
    /// the peer's `i`th, around if there are fewer here.
    pub addresses: Vec<Ipv4Addr>,
    /// Port of this end.
    pub port: u16,
    /// Key of the State Cookies' MAC. Tags, initial TSNs and the heartbeats' nonces are drawn from it too,
    /// so that it must differ from association to association.
    pub secret: [u8; 32],
    /// Path MTU in octets, the IPv4 header included.
    pub mtu: u32,
    /// Octets of a full DATA chunk, its header included; unset: as many as fit a packet.
    pub chunk_octets: Option<u32>,
    /// Streams to ask for.
    pub outbound_streams: u16,
    /// Streams that the peer may have.
    pub inbound_streams: u16,
    /// Receive window in octets.
    pub window: u32,
    /// Retransmission timeout before the first measurement (RTO.Initial).
    pub rto_initial: Duration,
    /// Least retransmission timeout (RTO.Min).
    pub rto_min: Duration,
    /// Largest retransmission timeout (RTO.Max).
    pub rto_max: Duration,
    /// Errors after which the peer is given up (Association.Max.Retrans).
    pub association_max_retrans: u32,
    /// Errors after which a path is inactive (Path.Max.Retrans).
    pub path_max_retrans: u32,
    /// Times that INIT and COOKIE ECHO are repeated (Max.Init.Retransmits).
    pub max_init_retransmits: u32,
    /// How often an idle path is probed (HB.interval); unset: never.
    pub heartbeat: Option<Duration>,
    /// How long a State Cookie is good for (Valid.Cookie.Life).
    pub cookie_life: Duration,
    /// How long a SACK may wait for a second packet; unset: every packet is acknowledged at once.
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
    /// Full packets that a cut leaves at least: 2 (RFC 2960), 4 (RFC 9260).
    pub least_packets: u32,
    /// The congestion control.
    pub control: Control,
    /// Switch path on congestion (Dahal 2007, §6.1.2), by the thresholds.
    pub spc: bool,
    /// Threshold RTT of each path for RBCA and SPC; the last goes for all further paths.
    pub thresholds: Vec<Duration>,
    /// Departures of another implementation from the RFC.
    pub quirks: Quirks,
}

/// What ns-2.35 does and RFC 9260 does not; all off by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quirks {
    /// The highest TSN newly acknowledged is remembered from SACK to SACK, so that also a SACK which acknowledges
    /// only an earlier retransmission reports what is missing below it (§7.2.4: only what it newly acknowledges
    /// counts).
    pub old_acknowledgements_count: bool,
    /// T3-rtx of a path goes on when all that was outstanding there is sent again elsewhere, up to the next SACK
    /// (§6.3.2 R2).
    pub timers_outlive_chunks: bool,
    /// All that is sent again at one SACK goes where the first of it goes, also what was lost there (§6.4: to another
    /// path than before).
    pub bursts_keep_a_path: bool,
    /// A timeout sends no new data, though it may leave room for it; only a SACK does.
    pub timeouts_hold_new_data: bool,
    /// Missing reports of a chunk that timed out count from the timeout on, not from its retransmission, so that
    /// SACKs of what was sent before have it sent once more.
    pub reports_survive_timeouts: bool,
    /// A burst that is broken off among retransmissions is one packet longer than it may be, and new data may follow.
    pub bursts_overrun: bool,
    /// The SACK that a packet with nothing but copies brings at once (§6.2) leaves the count of packets, and the time
    /// to wait, as if it had not been sent.
    pub copies_leave_the_count: bool,
    /// All paths share a heartbeat timer. At its end the path that was idle longest is probed, if it was so since the
    /// timer began; a heartbeat without an answer is repeated at once, and every timeout of an inactive path sends one
    /// (§8.3: each path after its own interval).
    pub heartbeats_take_turns: bool,
    /// No data leaves before a heartbeat has confirmed every path, that of the handshake too (§5.4: data may go where
    /// a path is confirmed).
    pub data_waits_for_paths: bool,
    /// A chunk that was to measure the RTT when its path's window was cut measures it nevertheless, once another one
    /// is to, so that several measure at a time (§6.3.1 C4: one in a round trip).
    pub stamps_outlive_losses: bool,
    /// A recovery ends with the highest TSN that was outstanding and not marked for retransmission when it began, so
    /// that what is marked above it may begin another (§7.2.4: the highest outstanding).
    pub marked_chunks_begin_recoveries: bool,
    /// What is sent again and leaves chunks marked, at a timeout or a SACK, counts in the burst of the next SACK that
    /// unmarks them all.
    pub bursts_carry_over: bool,
    /// Chunks that wait in the receiver's buffer fill it with their headers too.
    pub headers_fill_the_buffer: bool,
}

impl Quirks {
    /// All of them.
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

/// How many packets may leave at one SACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Burst {
    /// As many as the window allows.
    Unlimited,
    /// At most so many when the SACK acknowledges a chunk that was fast retransmitted, as ns-2 reads the
    /// implementer's guide.
    AfterRecovery(u32),
    /// At most so many (RFC 9260, §6.1 D, Max.Burst).
    Always(u32),
}

/// The window of each path.
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
    /// So many full packets.
    Packets(u32),
    /// So many octets.
    Octets(u32),
}

/// What is wrong with a configuration.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// No address.
    #[error("an association needs an address")]
    NoAddress,
    /// The MTU cannot be.
    #[error("the MTU is {0} octets; expected {MIN_MTU} to {MAX_MTU}")]
    Mtu(u32),
    /// A chunk that does not fit a packet or holds no data.
    #[error("a DATA chunk of {octets} octets; expected 17 to {most}, what a packet holds")]
    Chunk {
        /// Octets asked for.
        octets: u32,
        /// What fits.
        most: u32,
    },
    /// A count or span that must not be zero.
    #[error("{0} must be above 0")]
    Zero(&'static str),
    /// RBCA or SPC without a threshold, or without timestamps to compare with it.
    #[error("RBCA and SPC need a threshold RTT and the Timestamp chunk")]
    NoThreshold,
}

impl Config {
    /// The values that RFC 9260, §16 recommends, and its congestion control.
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

    /// Checks ranges.
    ///
    /// # Errors
    /// The first value that cannot be.
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

    /// The most octets of DATA chunks in a packet.
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

    /// A path's congestion window.
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
