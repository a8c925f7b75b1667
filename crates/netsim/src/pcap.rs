//! Captures: pcapng files of selected links, with timestamps in nanoseconds and complete payloads.

use engine::Packet;
use pcap_file::DataLink;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::section_header::SectionHeaderBlock;
use pcap_file::pcapng::{PcapNgBlock, PcapNgWriter};
use pcap_file::{Endianness, PcapError};
use std::borrow::Cow;
use std::io::{self, Write};
use units::Instant;

/// The timestamp unit is 10^−9 s.
const NANOSECONDS: u8 = 9;
/// More than the length of any packet.
const SNAP_OCTETS: u32 = 262_144;

/// A capture being written.
pub(crate) struct Capture {
    writer: PcapNgWriter<Box<dyn Write + Send>>,
    octets: Vec<u8>,
}

impl Capture {
    /// Starts a capture with one interface per name.
    pub fn new(
        out: Box<dyn Write + Send>,
        names: impl Iterator<Item = String>,
    ) -> io::Result<Self> {
        // Always little-endian, so that the octets do not depend on the machine.
        let section = SectionHeaderBlock {
            endianness: Endianness::Little,
            ..Default::default()
        };
        let mut writer = PcapNgWriter::with_section_header(out, section).map_err(io_error)?;
        for name in names {
            let interface = InterfaceDescriptionBlock {
                linktype: DataLink::ETHERNET,
                snaplen: SNAP_OCTETS,
                options: vec![
                    InterfaceDescriptionOption::IfName(Cow::Owned(name)),
                    InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
                ],
            };
            writer
                .write_block(&interface.into_block())
                .map_err(io_error)?;
        }
        Ok(Capture {
            writer,
            octets: Vec::new(),
        })
    }

    /// Writes a packet whose transmission starts at `now`.
    pub fn write(&mut self, interface: u32, now: Instant, packet: &Packet) -> io::Result<()> {
        self.octets.clear();
        self.octets.extend_from_slice(&packet.octets);
        self.octets.resize(packet.length() as usize, 0);
        let block = EnhancedPacketBlock {
            interface_id: interface,
            timestamp: std::time::Duration::from_nanos(now.as_nanos()),
            original_len: packet.length(),
            data: Cow::Borrowed(&self.octets),
            options: Vec::new(),
        };
        self.writer
            .write_block(&block.into_block())
            .map_err(io_error)?;
        Ok(())
    }

    /// Flushes the buffer.
    pub fn finish(self) -> io::Result<()> {
        self.writer.into_inner().flush()
    }
}

impl std::fmt::Debug for Capture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Capture")
    }
}

fn io_error(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}
