//! Settings of a connection.

pub use congestion::Recovery;

use super::mark::Marks;
use congestion::Limits;
use thiserror::Error;
use units::{Duration, Instant};

/// Settings of one connection. Both ends need the same profile, sizes, marks and initial sequence numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The family of rules.
    pub profile: Profile,
    /// The loss recovery.
    pub recovery: Recovery,
    /// The receiver's window, in segments. It is also the initial slow-start threshold.
    pub window: u32,
    /// The initial congestion window, in segments.
    pub initial_window: u32,
    /// The maximum congestion window, in segments.
    pub max_cwnd: Option<u32>,
    /// The retransmission timer.
    pub rto: RtoConfig,
    /// Whether to send a new segment on each of the first two duplicates (RFC 3042).
    pub limited_transmit: bool,
    /// Whether to suppress a fast retransmit, and its window inflation, while segments sent before the last reduction
    /// are missing. For Vegas, only if that reduction was caused by a timeout.
    pub bugfix: bool,
    /// Whether the first segment is a SYN of 40 octets without payload, and nothing else is sent until it is
    /// acknowledged. If it is lost, the initial window becomes one. It negotiates nothing, and the response is a plain
    /// acknowledgement. Vegas' recovery never sends one.
    pub syn: bool,
    /// Whether a new acknowledgement whose range wraps past the end of the ring of send counts clears none of them, so
    /// that later segments appear as retransmissions, as in the papers' simulator. It affects Vegas' samples and
    /// reductions.
    pub stale_send_counts: bool,
    /// Whether congestion controls take round-trip times from a clock in floating-point seconds, if there is one
    /// ([`Connection::read_clock`](super::Connection::read_clock)).
    pub floating_rtt: bool,
    /// Sizes on the wire.
    pub sizes: Sizes,
    /// Maximum number of SACK blocks in an acknowledgement, newest first: 0 to 4.
    pub sack_blocks: u8,
    /// Whether data and acknowledgements carry the AQT option.
    pub aqt: bool,
    /// Whether data and acknowledgements carry the AVBW-S option.
    pub avbw: bool,
    /// The declared marks that data and acknowledgements carry.
    pub marks: Marks,
    /// Whether data is marked as capable of congestion indication, which is echoed.
    pub ci: bool,
    /// Whether data and acknowledgements carry timestamps in microseconds. Links do not charge them.
    pub timestamps: bool,
    /// The clock of the timestamps.
    pub clock: Clock,
    /// The data that the application sends.
    pub supply: Supply,
    /// The sequence number of this side's first octet.
    pub local_start: u32,
    /// The sequence number of the other side's first octet.
    pub remote_start: u32,
    /// Whether to record every change for [`super::Connection::poll_trace`].
    pub trace: bool,
}

/// The family of rules that a connection follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Profile {
    /// The papers' simulator, ns-2 2.1b9a: connections are established from the start, and every packet is acknowledged
    /// immediately.
    Ns2,
}

/// The clock of a host, for its timestamps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// Its time at time zero, in its unit.
    pub start_us: u32,
    /// Its seconds per second of true time: 1.0001 gains 0.1 ms per second.
    pub rate: f64,
}

impl Clock {
    /// An exact, synchronised clock.
    pub const TRUE: Clock = Clock {
        start_us: 0,
        rate: 1.0,
    };

    /// Its time in microseconds, which wraps around.
    pub(crate) fn reads(&self, now: Instant) -> u32 {
        let elapsed = if self.rate == 1.0 {
            now.as_nanos() / 1000
        } else {
            (now.as_secs_f64() * self.rate * 1e6) as u64
        };
        self.start_us.wrapping_add(elapsed as u32)
    }

    /// Its time in milliseconds.
    pub(crate) fn reads_ms(&self, now: Instant) -> u32 {
        let elapsed = if self.rate == 1.0 {
            now.as_nanos() / 1_000_000
        } else {
            (now.as_secs_f64() * self.rate * 1e3) as u64
        };
        self.start_us.wrapping_add(elapsed as u32)
    }
}

/// The data that the application sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Supply {
    /// Nothing: a pure receiver.
    Nothing,
    /// This number of full segments in total.
    Segments(u64),
    /// Unlimited data.
    Endless,
}

/// The retransmission timer and its coarse clock.
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
    /// Whether the minimum applies before the backoff (RFC 2988) rather than after it.
    pub rfc2988: bool,
}

/// Sizes on the wire: IPv4 total lengths, and what links charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// A data packet in octets, including its IPv4 and TCP headers and the AQT option.
    pub data_octets: u32,
    /// An acknowledgement without options, in octets.
    pub ack_octets: u32,
}

/// Why settings are invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// Data packets have no room for a payload, or are too long for IPv4.
    #[error("sizes.data_octets is {octets}, expected {smallest} to 65535")]
    DataOctets {
        /// What was given.
        octets: u32,
        /// Headers and options, and one octet of payload.
        smallest: u32,
    },
    /// A setting is zero and must not be.
    #[error("{setting} is 0, expected more")]
    Zero {
        /// Its name.
        setting: &'static str,
    },
    /// No timeout satisfies both bounds.
    #[error("rto.max is {max}, less than rto.min, {min}")]
    RtoRange {
        /// The lower bound.
        min: Duration,
        /// The upper bound.
        max: Duration,
    },
}

const MAX_PACKET_OCTETS: u32 = 65_535;

/// IPv4 and TCP headers without options.
pub(crate) const HEADER_OCTETS: u32 = 40;
/// The AQT option.
pub(crate) const AQT_OCTETS: u32 = 8;
/// The AVBW-S option.
pub(crate) const AVBW_OCTETS: u32 = 4;
/// The CSIG tag, including its TPID.
pub(crate) const CSIG_OCTETS: u32 = 4;
/// NOP, NOP and the timestamps option.
pub(crate) const TIMESTAMP_OCTETS: u32 = 12;
/// The octets that a SACK block adds to an acknowledgement.
pub(crate) const SACK_BLOCK_OCTETS: u32 = 8;

impl Config {
    /// Checks that a connection can work with these settings. To be called on external input.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let smallest = HEADER_OCTETS + self.option_octets() + 1;
        let octets = self.sizes.data_octets;
        if !(smallest..=MAX_PACKET_OCTETS).contains(&octets) {
            return Err(ConfigError::DataOctets { octets, smallest });
        }
        let zero = [
            ("sizes.ack_octets", self.sizes.ack_octets == 0),
            ("window", self.window == 0),
            ("initial_window", self.initial_window == 0),
            ("max_cwnd", self.max_cwnd == Some(0)),
            ("rto.tick", self.rto.tick == Duration::ZERO),
            ("rto.initial", self.rto.initial == Duration::ZERO),
        ];
        if let Some((setting, _)) = zero.iter().find(|(_, is_zero)| *is_zero) {
            return Err(ConfigError::Zero { setting });
        }
        if self.rto.max < self.rto.min {
            return Err(ConfigError::RtoRange {
                min: self.rto.min,
                max: self.rto.max,
            });
        }
        Ok(())
    }

    /// The settings of the other end: the same rules and sequence numbers, and nothing to send.
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
        self.sizes
            .data_octets
            .saturating_sub(HEADER_OCTETS + self.option_octets())
            .max(1)
    }

    /// Options of a data packet.
    fn option_octets(&self) -> u32 {
        let aqt = if self.aqt { AQT_OCTETS } else { 0 };
        let avbw = if self.avbw { AVBW_OCTETS } else { 0 };
        let timestamps = if self.timestamps { TIMESTAMP_OCTETS } else { 0 };
        aqt + avbw + self.marks.octets() + timestamps
    }

    /// Whether the first segment is a SYN.
    pub(crate) fn opens_with_syn(&self) -> bool {
        self.syn && self.recovery != Recovery::Vegas
    }

    /// The parameters for the congestion control.
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            initial_window: f64::from(self.initial_window),
            initial_ssthresh: f64::from(self.window),
            max_cwnd: self.max_cwnd.map(f64::from),
            packet_octets: self.sizes.data_octets,
            line_bps: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_presets_are_valid() {
        for recovery in [
            Recovery::Tahoe,
            Recovery::Reno,
            Recovery::NewReno,
            Recovery::Sack,
            Recovery::Fack,
            Recovery::Vegas,
        ] {
            for preset in [
                Config::stock,
                Config::chan,
                Config::srijith,
                Config::ns2_trace,
            ] {
                let config = preset(recovery);
                assert_eq!(config.validate(), Ok(()));
                assert_eq!(config.peer().validate(), Ok(()));
            }
        }
    }

    #[test]
    fn options_take_their_room_from_the_payload() {
        let plain = Config::chan(Recovery::Vegas);
        let marked = Config {
            aqt: true,
            ..plain.clone()
        };
        let stamped = Config {
            timestamps: true,
            ..marked.clone()
        };
        let payloads = [&plain, &marked, &stamped].map(Config::payload);
        assert_eq!(payloads, [960, 952, 940]);
    }

    #[test]
    fn errors_name_the_setting_and_what_is_valid() {
        let said = |change: fn(&mut Config)| {
            let mut config = Config {
                aqt: true,
                ..Config::chan(Recovery::Vegas)
            };
            change(&mut config);
            config.validate().unwrap_err().to_string()
        };
        assert_eq!(
            said(|config| config.window = 0),
            "window is 0, expected more"
        );
        assert_eq!(
            said(|config| config.max_cwnd = Some(0)),
            "max_cwnd is 0, expected more"
        );
        assert_eq!(
            said(|config| config.rto.tick = Duration::ZERO),
            "rto.tick is 0, expected more"
        );
        assert_eq!(
            said(|config| config.sizes.data_octets = 48),
            "sizes.data_octets is 48, expected 49 to 65535"
        );
        assert_eq!(
            said(|config| config.rto.max = Duration::from_millis(1)),
            "rto.max is 1 ms, less than rto.min, 1 s"
        );
    }
}
