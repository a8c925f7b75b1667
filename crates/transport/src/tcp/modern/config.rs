//! Settings of a connection in the modern profile.

use congestion::Limits;
use thiserror::Error;
use units::Duration;

use crate::tcp::config::{AQT_OCTETS, AVBW_OCTETS, Clock, HEADER_OCTETS, TIMESTAMP_OCTETS};
use crate::tcp::csig::Bands;
use crate::tcp::int::Int;
use crate::tcp::mark::Marks;
use crate::tcp::tcp_int::TcpInt;

/// Settings of one connection. The ends may differ in all of them except the accurate kinds of [`Config::ecn`], which
/// are not negotiated.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The MTU of the path: the maximum IPv4 total length.
    pub mtu: u16,
    /// The initial congestion window, in segments (RFC 6928: 10).
    pub initial_window: u32,
    /// The initial slow-start threshold, in segments. If infinite, the first loss sets it.
    pub initial_ssthresh: f64,
    /// The maximum congestion window, in segments.
    pub max_cwnd: Option<u32>,
    /// Maximum octets that wait to be sent or acknowledged.
    pub send_buffer: usize,
    /// Maximum octets that wait to be read. Determines the advertised window.
    pub receive_buffer: usize,
    /// The retransmission timer (RFC 6298).
    pub rto: RtoBounds,
    /// How long an acknowledgement may wait for a second segment (RFC 9293, §3.8.6.3). `None` means that every segment
    /// is acknowledged at once.
    pub delayed_ack: Option<Duration>,
    /// Whether to hold back a short segment while others are in flight (RFC 9293, §3.7.4).
    pub nagle: bool,
    /// Selective acknowledgements (RFC 2018), if the other end supports them.
    pub sack: bool,
    /// Window scale (RFC 7323, §2), if the other end supports it.
    pub window_scaling: bool,
    /// Timestamps (RFC 7323, §3), if the other end supports them.
    pub timestamps: Stamps,
    /// The clock of the timestamps. Its start should differ between connections.
    pub clock: Clock,
    /// The meaning of congestion marks.
    pub ecn: EcnMode,
    /// If both ends count marks, whether acknowledgements carry the option with octet counters (RFC 9768, §3.2.3). The
    /// options of the other end are always processed.
    pub ecn_option: bool,
    /// Whether data may be trimmed by switches, and is sent again when the other end reports that.
    pub trimming: bool,
    /// The rate of the link through which packets leave in bits per second, if known.
    pub line_rate_bps: Option<u64>,
    /// Whether all segments except SYNs and RSTs carry the AQT option.
    pub aqt: bool,
    /// Whether all segments except SYNs and RSTs carry the AVBW-S option.
    pub avbw: bool,
    /// The quantiser of CSIG tags, if data carries them. Received tags are always reflected.
    pub csig: Option<Bands>,
    /// Whether data carries the option of TCP-INT. Received options are always echoed.
    pub tcp_int: bool,
    /// The declared marks that all segments except SYNs and RSTs carry.
    pub marks: Marks,
    /// Whether data opens a stack of in-band telemetry (INT). Full segments leave room for the records of all hops.
    pub int: bool,
    /// Whether to spread a window over its round trip. If not, segments are only paced if the congestion control
    /// requests it.
    pub pacing: bool,
    /// How long the other end may delay an acknowledgement. A tail loss probe waits for it if one segment is in flight
    /// (RFC 8985, §7.2, TLP.max_ack_delay).
    pub peer_delayed_ack: Duration,
    /// By how much timers may be late. Pacing compensates for up to 1 ms.
    pub late_timers: Duration,
    /// Number of consecutive timeouts after which a connection is aborted (RFC 9293, §3.8.3).
    pub max_retries: u32,
    /// The same while it is being opened. If this end opens it, [`Config::linear_syns`] are allowed in addition.
    pub syn_retries: u32,
    /// Number of SYNs that are sent at intervals of the initial timeout before the timeout doubles each time. With 4
    /// they are sent 0, 1, 2, 3, 4, 5, 7 and 11 s after the first one, as in the Linux kernel since 6.5
    /// (`tcp_syn_linear_timeouts`) and in macOS. RFC 6298 (5.5) has 0.
    pub linear_syns: u32,
    /// How long the end that closed first stays in TIME-WAIT: twice the maximum segment lifetime.
    pub time_wait: Duration,
    /// Whether payloads are zeros that are not stored: only lengths, for virtual time.
    pub elided: bool,
    /// Whether to record every change for [`super::Connection::poll_trace`].
    pub trace: bool,
}

/// Bounds of the retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtoBounds {
    /// Before the first sample.
    pub initial: Duration,
    /// Minimum excess over the smoothed round-trip time. RFC 6298 requires a timeout of at least 1 s; the Linux kernel
    /// uses 0.2 s, as here.
    pub min: Duration,
    /// The maximum.
    pub max: Duration,
}

/// Whether segments carry timestamps, and in what unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamps {
    /// No timestamps.
    Off,
    /// Milliseconds, within the range that RFC 7323 (§5.4) allows.
    Millis,
    /// Microseconds, which Enhanced Vegas and RBCC need. They wrap around within 72 minutes, so that after half an hour
    /// of silence an end that checks them may treat new segments as old ones.
    Micros,
}

/// The meaning of congestion marks (the ECN field of IPv4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnMode {
    /// Not capable.
    Off,
    /// RFC 3168: echoed until the sender confirms that it has slowed down; handled like a loss. Counted (RFC 9768) if
    /// the end that opens the connection requests it.
    Classic,
    /// RFC 8257: every mark is echoed once.
    Accurate,
    /// The papers' congestion indication: every mark is echoed once, and only the congestion control reacts to it.
    Indication,
    /// L4S (RFC 9331): ECT(1), and marks are counted (RFC 9768). With an end that does not count them, like
    /// [`EcnMode::Classic`].
    L4s,
}

/// Why settings are invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// Packets have too little room for a payload.
    #[error("mtu is {mtu}, expected {smallest} to 65535")]
    Mtu {
        /// What was given.
        mtu: u16,
        /// Headers with all options, and the minimum payload of RFC 9293.
        smallest: u16,
    },
    /// A setting is zero and must not be.
    #[error("{setting} is 0, expected more")]
    Zero {
        /// Its name.
        setting: &'static str,
    },
    /// No timeout satisfies all bounds.
    #[error("rto.max is {max}, less than rto.min, {min}, or rto.initial")]
    RtoRange {
        /// The lower bound.
        min: Duration,
        /// The upper bound.
        max: Duration,
    },
    /// A buffer is larger than the maximum scaled window.
    #[error("receive_buffer is {octets}, expected at most {most}")]
    ReceiveBuffer {
        /// What was given.
        octets: usize,
        /// 2¹⁶ · 2¹⁴ minus rounding.
        most: usize,
    },
}

/// The largest shift of a window (RFC 7323, §2.3).
pub(super) const MAX_SCALE: u8 = 14;
/// The largest window.
const MAX_WINDOW: usize = 65_535 << MAX_SCALE;
/// The smallest payload worth a packet.
const MIN_PAYLOAD: u32 = 8;
/// Both headers, IPv4's and TCP's, with all options.
const MAX_HEADERS: u32 = 120;

impl Default for Config {
    fn default() -> Self {
        Config {
            mtu: 1500,
            initial_window: 10,
            initial_ssthresh: f64::INFINITY,
            max_cwnd: None,
            send_buffer: 1 << 20,
            receive_buffer: 1 << 20,
            rto: RtoBounds::default(),
            delayed_ack: Some(Duration::from_millis(40)),
            nagle: true,
            sack: true,
            window_scaling: true,
            timestamps: Stamps::Millis,
            clock: Clock::TRUE,
            ecn: EcnMode::Classic,
            ecn_option: true,
            trimming: false,
            line_rate_bps: None,
            aqt: false,
            avbw: false,
            csig: None,
            tcp_int: false,
            marks: Marks::default(),
            int: false,
            pacing: true,
            peer_delayed_ack: Duration::from_millis(200),
            late_timers: Duration::from_millis(1),
            max_retries: 15,
            syn_retries: 6,
            linear_syns: 4,
            time_wait: Duration::from_millis(60_000),
            elided: false,
            trace: false,
        }
    }
}

impl Default for RtoBounds {
    fn default() -> Self {
        RtoBounds {
            initial: Duration::from_millis(1000),
            min: Duration::from_millis(200),
            max: Duration::from_millis(60_000),
        }
    }
}

impl Config {
    /// Checks that a connection can work with these settings. To be called on external input.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let smallest = (MAX_HEADERS + self.int_octets() + MIN_PAYLOAD) as u16;
        if self.mtu < smallest {
            let mtu = self.mtu;
            return Err(ConfigError::Mtu { mtu, smallest });
        }
        let zero = [
            ("initial_window", self.initial_window == 0),
            ("max_cwnd", self.max_cwnd == Some(0)),
            ("send_buffer", self.send_buffer == 0),
            ("receive_buffer", self.receive_buffer == 0),
            ("rto.initial", self.rto.initial == Duration::ZERO),
            ("rto.min", self.rto.min == Duration::ZERO),
        ];
        if let Some((setting, _)) = zero.iter().find(|(_, is_zero)| *is_zero) {
            return Err(ConfigError::Zero { setting });
        }
        let RtoBounds { initial, min, max } = self.rto;
        if max < min || max < initial {
            return Err(ConfigError::RtoRange { min, max });
        }
        if self.receive_buffer > MAX_WINDOW {
            let (octets, most) = (self.receive_buffer, MAX_WINDOW);
            return Err(ConfigError::ReceiveBuffer { octets, most });
        }
        Ok(())
    }

    /// The advertised MSS: the longest payload, without options (RFC 6691).
    pub fn advertised_mss(&self) -> u16 {
        self.mtu.saturating_sub(HEADER_OCTETS as u16).max(1)
    }

    /// Payload octets of a full segment: what `peer_mss` and the path leave after all options, which reduce the
    /// payload.
    pub fn payload(&self, peer_mss: u16, timestamps: bool) -> u32 {
        let mss = u32::from(peer_mss.min(self.advertised_mss()));
        let stamps = if timestamps { TIMESTAMP_OCTETS } else { 0 };
        let tcp_int = if self.tcp_int { TcpInt::OCTETS } else { 0 };
        mss.saturating_sub(stamps + tcp_int + self.ip_option_octets() + self.int_octets())
            .max(MIN_PAYLOAD)
    }

    /// IPv4 options of a packet.
    fn ip_option_octets(&self) -> u32 {
        let aqt = if self.aqt { AQT_OCTETS } else { 0 };
        let avbw = if self.avbw { AVBW_OCTETS } else { 0 };
        aqt + avbw + self.marks.octets()
    }

    /// Room for telemetry in a packet.
    fn int_octets(&self) -> u32 {
        if self.int { Int::MAX_OCTETS } else { 0 }
    }

    /// The shift with which the size of the receive buffer fits into 16 bits.
    pub(super) fn window_scale(&self) -> u8 {
        (0..MAX_SCALE)
            .find(|shift| self.receive_buffer >> shift <= 65_535)
            .unwrap_or(MAX_SCALE)
    }

    /// The parameters for the congestion control.
    pub(super) fn limits(&self) -> Limits {
        Limits {
            initial_window: f64::from(self.initial_window),
            initial_ssthresh: self.initial_ssthresh,
            max_cwnd: self.max_cwnd.map(f64::from),
            // A segment that leaves contains only the header of the telemetry.
            packet_octets: match self.int {
                true => u32::from(self.mtu) - self.int_octets() + Int::HEADER_OCTETS,
                false => u32::from(self.mtu),
            },
            line_bps: self.line_rate_bps.map(|bps| bps as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_come_off_the_payload() {
        let plain = Config::default();
        assert_eq!(plain.payload(1460, false), 1460);
        assert_eq!(plain.payload(1460, true), 1448);
        assert_eq!(plain.payload(536, false), 536);
        let marked = Config {
            aqt: true,
            avbw: true,
            ..plain
        };
        assert_eq!(marked.payload(1460, true), 1436);
        assert_eq!(marked.advertised_mss(), 1460);
    }

    #[test]
    fn the_scale_is_the_least_that_suffices() {
        let scale = |receive_buffer| {
            let config = Config {
                receive_buffer,
                ..Config::default()
            };
            assert_eq!(config.validate(), Ok(()));
            config.window_scale()
        };
        assert_eq!(
            [scale(1), scale(65_535), scale(65_536), scale(MAX_WINDOW)],
            [0, 0, 1, 14]
        );
    }

    #[test]
    fn errors_name_the_setting_and_what_is_valid() {
        let said = |change: fn(&mut Config)| {
            let mut config = Config::default();
            change(&mut config);
            config.validate().unwrap_err().to_string()
        };
        assert_eq!(
            said(|config| config.mtu = 127),
            "mtu is 127, expected 128 to 65535"
        );
        assert_eq!(
            said(|config| config.receive_buffer = 0),
            "receive_buffer is 0, expected more"
        );
        assert_eq!(
            said(|config| config.rto.max = Duration::from_millis(1)),
            "rto.max is 1 ms, less than rto.min, 200 ms, or rto.initial"
        );
    }
}
