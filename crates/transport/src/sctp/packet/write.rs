//! Encoding of packets chunk by chunk, into a buffer of the caller.

use super::chunk::kind;
use super::parameter;
use super::{DATA_HEADER_OCTETS, Data, HEADER_OCTETS, checksum, padded};
use crate::sctp::Tsn;
use std::net::Ipv4Addr;

/// Writes a packet: a common header, then chunks, then [`Writer::finish`].
#[derive(Debug)]
pub struct Writer<'a> {
    out: &'a mut Vec<u8>,
}

/// Octets of a DATA chunk with `payload` octets, including padding.
pub(crate) const fn data_octets(payload: usize) -> usize {
    padded(DATA_HEADER_OCTETS + payload)
}

/// Octets of a SACK chunk.
pub(crate) const fn sack_octets(gaps: usize, duplicates: usize) -> usize {
    16 + 4 * (gaps + duplicates)
}

impl<'a> Writer<'a> {
    /// Starts a packet in `out`, which is cleared.
    pub fn new(out: &'a mut Vec<u8>, source_port: u16, destination_port: u16, tag: u32) -> Self {
        out.clear();
        out.extend_from_slice(&source_port.to_be_bytes());
        out.extend_from_slice(&destination_port.to_be_bytes());
        out.extend_from_slice(&tag.to_be_bytes());
        out.extend_from_slice(&[0; 4]);
        Writer { out }
    }

    /// Octets so far.
    pub fn len(&self) -> usize {
        self.out.len()
    }

    /// Whether it has no chunk yet.
    pub fn is_empty(&self) -> bool {
        self.out.len() <= HEADER_OCTETS
    }

    /// Appends a chunk of any type. A chunk longer than 65531 octets is truncated.
    pub fn chunk(&mut self, kind: u8, flags: u8, body: &[u8]) -> &mut Self {
        let start = self.begin(kind, flags);
        let room = usize::from(u16::MAX) - 4;
        self.out.extend_from_slice(&body[..body.len().min(room)]);
        self.end(start);
        self
    }

    /// Appends octets unchanged, for tests with unusual packets.
    pub fn raw(&mut self, octets: &[u8]) -> &mut Self {
        self.out.extend_from_slice(octets);
        self
    }

    /// Appends DATA.
    pub fn data(&mut self, data: &Data<'_>) -> &mut Self {
        let start = self.begin(kind::DATA, data.flags.0);
        self.put32(data.tsn.0);
        self.put16(data.stream);
        self.put16(data.ssn);
        self.put32(data.protocol);
        self.out.extend_from_slice(data.payload);
        self.end(start);
        self
    }

    /// Appends INIT, or INIT ACK with its cookie. `unrecognized` parameters are reported.
    #[expect(clippy::too_many_arguments, reason = "one for each field")]
    pub fn init(
        &mut self,
        kind: u8,
        tag: u32,
        window: u32,
        streams: (u16, u16),
        initial_tsn: Tsn,
        addresses: &[Ipv4Addr],
        cookie: Option<&[u8]>,
        unrecognized: &[u8],
    ) -> &mut Self {
        let start = self.begin(kind, 0);
        self.put32(tag);
        self.put32(window);
        self.put16(streams.0);
        self.put16(streams.1);
        self.put32(initial_tsn.0);
        for address in addresses {
            self.parameter(parameter::kind::IPV4, &address.octets());
        }
        if let Some(cookie) = cookie {
            self.parameter(parameter::kind::COOKIE, cookie);
        }
        if !unrecognized.is_empty() {
            self.parameter(parameter::kind::UNRECOGNIZED, unrecognized);
        }
        self.end(start);
        self
    }

    /// Appends SACK.
    pub fn sack(
        &mut self,
        cumulative: Tsn,
        window: u32,
        gaps: &[(u16, u16)],
        duplicates: &[Tsn],
    ) -> &mut Self {
        let start = self.begin(kind::SACK, 0);
        self.put32(cumulative.0);
        self.put32(window);
        self.put16(gaps.len() as u16);
        self.put16(duplicates.len() as u16);
        for (first, last) in gaps {
            self.put16(*first);
            self.put16(*last);
        }
        for tsn in duplicates {
            self.put32(tsn.0);
        }
        self.end(start);
        self
    }

    /// Appends SHUTDOWN.
    pub fn shutdown(&mut self, cumulative: Tsn) -> &mut Self {
        self.chunk(kind::SHUTDOWN, 0, &cumulative.0.to_be_bytes())
    }

    /// Appends Timestamp.
    pub fn timestamp(&mut self, value: u32, echo: u32) -> &mut Self {
        let start = self.begin(kind::TIMESTAMP, 0);
        self.put32(value);
        self.put32(echo);
        self.end(start);
        self
    }

    /// Appends ABORT or ERROR with one cause.
    pub fn cause(&mut self, kind: u8, flags: u8, code: u16, value: &[u8]) -> &mut Self {
        let start = self.begin(kind, flags);
        self.parameter(code, value);
        self.end(start);
        self
    }

    /// Appends HEARTBEAT or HEARTBEAT ACK. The information is a parameter of type 1.
    pub fn heartbeat(&mut self, kind: u8, information: &[u8]) -> &mut Self {
        let start = self.begin(kind, 0);
        self.parameter(1, information);
        self.end(start);
        self
    }

    /// Writes the checksum.
    pub fn finish(self) {
        let sum = checksum(self.out);
        self.out[8..HEADER_OCTETS].copy_from_slice(&sum.to_le_bytes());
    }

    fn parameter(&mut self, kind: u16, value: &[u8]) {
        let value = &value[..value.len().min(1024)];
        self.put16(kind);
        self.put16(value.len() as u16 + 4);
        self.out.extend_from_slice(value);
        self.pad();
    }

    fn begin(&mut self, kind: u8, flags: u8) -> usize {
        let start = self.out.len();
        self.out.extend_from_slice(&[kind, flags, 0, 0]);
        start
    }

    /// The length includes the padding of parameters, but not the padding of the chunk.
    fn end(&mut self, start: usize) {
        let length = (self.out.len() - start) as u16;
        self.out[start + 2..start + 4].copy_from_slice(&length.to_be_bytes());
        self.pad();
    }

    fn pad(&mut self) {
        let padded = padded(self.out.len());
        self.out.resize(padded, 0);
    }

    fn put16(&mut self, value: u16) {
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    fn put32(&mut self, value: u32) {
        self.out.extend_from_slice(&value.to_be_bytes());
    }
}
