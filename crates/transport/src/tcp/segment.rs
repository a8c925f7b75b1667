//! A TCP segment with the IPv4 fields that transports read and write; its payload is elided zeros.

use super::config::{AQT_OCTETS, AVBW_OCTETS, CSIG_OCTETS};
use super::csig::{Reflection, Tag};
use super::int::Int;
use super::octet_counts::OctetCounts;
use super::options::Options;
use super::tcp_int::TcpInt;
use std::ops::{BitOr, BitOrAssign};

/// A segment between a connection and the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number of the first payload octet.
    pub seq: u32,
    /// The next octet expected. Meaningful with [`Flags::ACK`].
    pub ack: u32,
    /// Control bits.
    pub flags: Flags,
    /// The window field as in the header, unscaled.
    pub window: u16,
    /// Payload octets, all zero.
    pub payload: u32,
    /// Options that only a SYN carries.
    pub syn: SynOptions,
    /// SACK option (RFC 2018).
    pub sack: SackBlocks,
    /// Timestamps option (RFC 7323).
    pub timestamps: Option<Timestamps>,
    /// The sequence number of a segment that arrived trimmed, in an experimental option (RFC 6994).
    pub trim_notice: Option<u32>,
    /// The option of accurate ECN (RFC 9768, §3.2.3).
    pub octet_counts: Option<OctetCounts>,
    /// The option of TCP-INT, into which hops write.
    pub tcp_int: Option<TcpInt>,
    /// AQT option in the IPv4 header.
    pub aqt: Option<Aqt>,
    /// AVBW-S option in the IPv4 header.
    pub avbw: Option<Avbw>,
    /// Other options in the IPv4 header.
    pub options: Options,
    /// In-band telemetry behind the TCP header.
    pub int: Option<Int>,
    /// The IPv4 ECN field.
    pub ecn: Ecn,
    /// The CSIG tag in front of the IPv4 header.
    pub csig: Option<Tag>,
    /// Reflected CSIG tags, in an experimental TCP option.
    pub reflection: Reflection,
    /// Whether switches may trim it, or have trimmed it.
    pub trimming: Trimming,
    /// The size that links, rates and queues charge, in octets.
    pub link_octets: u32,
}

impl Segment {
    /// Octets of the IPv4 options and the tag into which hops write. They are included in `link_octets`.
    pub fn feedback_octets(&self) -> u32 {
        self.aqt.map_or(0, |_| AQT_OCTETS)
            + self.avbw.map_or(0, |_| AVBW_OCTETS)
            + self.options.padded_octets()
            + self.csig.map_or(0, |_| CSIG_OCTETS)
    }

    /// Octets of its telemetry. They are included in `link_octets`.
    pub fn int_octets(&self) -> u32 {
        self.int.as_ref().map_or(0, Int::octets)
    }
}

/// Packet trimming: the state encoded in the DSCP of a packet, and the remaining part of the packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trimming {
    /// It must not be trimmed, or a switch did not need to trim it.
    #[default]
    None,
    /// A full queue may trim it.
    Trimmable,
    /// It was trimmed. [`Segment::payload`] is its original payload length. Of the TCP header only the ports and the
    /// sequence number are read, and no checksum covers them.
    Cut,
}

/// The options of a SYN. Empty in other segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SynOptions {
    /// Maximum segment size: the longest payload, without options (RFC 9293, §3.7.1; RFC 6691).
    pub mss: Option<u16>,
    /// The shift of the windows that it will advertise (RFC 7323, §2).
    pub window_scale: Option<u8>,
    /// Whether it supports SACK (RFC 2018, §2).
    pub sack_permitted: bool,
}

/// TCP control bits: octet 13 of the header, plus the lowest bit of octet 12 above it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u16);

impl Flags {
    /// No more data from the sender.
    pub const FIN: Flags = Flags(0x01);
    /// Synchronize sequence numbers.
    pub const SYN: Flags = Flags(0x02);
    /// Reset the connection.
    pub const RST: Flags = Flags(0x04);
    /// Push.
    pub const PSH: Flags = Flags(0x08);
    /// The acknowledgement field is significant.
    pub const ACK: Flags = Flags(0x10);
    /// Urgent pointer field is significant.
    pub const URG: Flags = Flags(0x20);
    /// ECN-echo. Carries the CI-echo if that is requested.
    pub const ECE: Flags = Flags(0x40);
    /// Congestion window reduced.
    pub const CWR: Flags = Flags(0x80);
    /// Accurate ECN (RFC 9768).
    pub const AE: Flags = Flags(0x100);

    /// Whether every bit of `other` is set.
    pub const fn contains(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any bit of `other` is set.
    pub const fn intersects(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }
}

impl BitOr for Flags {
    type Output = Flags;
    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

impl BitOrAssign for Flags {
    fn bitor_assign(&mut self, other: Flags) {
        *self = *self | other;
    }
}

/// Up to four blocks of selectively acknowledged octets, `left..right`, newest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(u32, u32); Self::MAX],
    len: u8,
}

impl SackBlocks {
    /// The maximum number in a TCP header.
    pub const MAX: usize = 4;

    /// Appends a block. Returns `false`, without any change, if there is no room.
    pub fn push(&mut self, left: u32, right: u32) -> bool {
        let Some(slot) = self.blocks.get_mut(usize::from(self.len)) else {
            return false;
        };
        *slot = (left, right);
        self.len += 1;
        true
    }

    /// The blocks, newest first.
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.len)]
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// The timestamps option (RFC 7323, §3). The connection determines the unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamps {
    /// TSval: the sender's clock.
    pub value: u32,
    /// TSecr: the echoed value.
    pub echo: u32,
}

/// The AQT option (accumulated queueing time). Both fields have 24 bits, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Aqt {
    /// Queueing time at the hops so far.
    pub time_us: u32,
    /// The AQT of the data segment that this one acknowledges.
    pub echo_us: u32,
}

impl Aqt {
    /// The saturation value of the fields: "at least this".
    pub const MAX_US: u32 = 0xFF_FFFF;
}

/// The AVBW-S option (data rate adjustment index).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Avbw {
    /// The minimum of the hops' indices so far.
    pub drai: u8,
    /// The index that the receiver echoes.
    pub mrai_echo: u8,
}

impl Avbw {
    /// The index that no hop has written.
    pub const SILENT: u8 = 0xFF;

    /// The option as the sender of data writes it.
    pub const UNWRITTEN: Avbw = Avbw {
        drai: Self::SILENT,
        mrai_echo: Self::SILENT,
    };
}

/// The ECN field of the IPv4 header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// 0b00: not capable.
    #[default]
    NotCapable,
    /// 0b01: capable, of a scalable sender (L4S, RFC 9331).
    Ect1,
    /// 0b10: capable.
    Ect0,
    /// 0b11: congestion experienced.
    Experienced,
}

impl Ecn {
    /// The two bits.
    pub const fn bits(self) -> u8 {
        self as u8
    }

    /// From the low two bits of `tos`.
    pub const fn from_bits(tos: u8) -> Ecn {
        match tos & 3 {
            0 => Ecn::NotCapable,
            1 => Ecn::Ect1,
            2 => Ecn::Ect0,
            _ => Ecn::Experienced,
        }
    }
}
