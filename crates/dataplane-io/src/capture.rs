//! Captures of the frames of a port, as pcap files with nanosecond timestamps.

use crate::error::IoError;
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::{DataLink, TsResolution};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Octets of records that are buffered before they are written.
const BUFFER: usize = 64 << 10;
/// Records that are lost before writing is attempted again.
const PATIENCE: u32 = 1024;

/// The captures of a port: `IFACE_in.pcap` and `IFACE_out.pcap`.
pub struct Capture {
    incoming: Recording,
    outgoing: Recording,
}

/// One file of records.
struct Recording {
    path: PathBuf,
    writer: PcapWriter<Output>,
    output: Output,
    /// Whether a write failure has been reported.
    told: bool,
}

/// A buffered file, which can be flushed while a capture writer owns it. Records are added to the buffer as a whole,
/// and what cannot be written stays in the buffer, so that the file never has a partial record in its middle.
#[derive(Clone)]
struct Output(Arc<Mutex<Buffered>>);

struct Buffered {
    file: File,
    buffer: Vec<u8>,
    /// Records lost since the last attempt to write.
    lost: u32,
}

impl Output {
    fn buffered(&self) -> MutexGuard<'_, Buffered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Buffered {
    /// Writes the buffer, or as much of it as the file accepts.
    fn write_out(&mut self) -> io::Result<()> {
        self.lost = 0;
        let mut written = 0;
        let result = loop {
            match self.file.write(&self.buffer[written..]) {
                _ if written == self.buffer.len() => break Ok(()),
                Ok(0) => break Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Err(error),
            }
        };
        self.buffer.drain(..written);
        result
    }

    /// Makes room for a record.
    fn make_room(&mut self) -> io::Result<()> {
        if self.buffer.len() < BUFFER {
            return Ok(());
        }
        if (1..PATIENCE).contains(&self.lost) {
            self.lost += 1;
            return Err(io::ErrorKind::StorageFull.into());
        }
        let result = self.write_out();
        if self.buffer.len() < BUFFER {
            return Ok(());
        }
        self.lost = 1;
        result
    }
}

impl Write for Output {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        self.buffered().buffer.extend_from_slice(octets);
        Ok(octets.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.buffered().write_out()
    }
}

/// A frame that could not be recorded. Contains a message the first time that a file cannot be written.
#[derive(Debug, PartialEq, Eq)]
pub struct Unrecorded(pub Option<String>);

impl Capture {
    /// Starts captures in a folder, which is created if necessary.
    pub fn create(folder: &Path, name: &str) -> Result<Self, IoError> {
        std::fs::create_dir_all(folder).map_err(|error| IoError::Capture {
            path: folder.into(),
            error,
        })?;
        let open = |direction: &str| {
            let path = folder.join(format!("{name}_{direction}.pcap"));
            Recording::create(&path).map_err(|error| IoError::Capture { path, error })
        };
        Ok(Capture {
            incoming: open("in")?,
            outgoing: open("out")?,
        })
    }

    /// Records a received frame.
    pub fn incoming(&mut self, octets: &[u8]) -> Result<(), Unrecorded> {
        self.incoming.record(octets)
    }

    /// Records a sent frame.
    pub fn outgoing(&mut self, octets: &[u8]) -> Result<(), Unrecorded> {
        self.outgoing.record(octets)
    }

    /// Writes the buffered records, so that a reader sees them.
    pub fn flush(&mut self) {
        for recording in [&mut self.incoming, &mut self.outgoing] {
            let _ = recording.output.flush();
        }
    }
}

impl Recording {
    fn create(path: &Path) -> io::Result<Self> {
        let output = Output(Arc::new(Mutex::new(Buffered {
            file: File::create(path)?,
            buffer: Vec::with_capacity(2 * BUFFER),
            lost: 0,
        })));
        let header = PcapHeader {
            datalink: DataLink::ETHERNET,
            ts_resolution: TsResolution::NanoSecond,
            ..PcapHeader::default()
        };
        let writer = PcapWriter::with_header(output.clone(), header).map_err(io::Error::other)?;
        output.buffered().write_out()?;
        Ok(Recording {
            path: path.into(),
            writer,
            output,
            told: false,
        })
    }

    /// A file that cannot be written (such as on a full disk) must not stop the switch.
    fn record(&mut self, octets: &[u8]) -> Result<(), Unrecorded> {
        if let Err(error) = self.output.buffered().make_room() {
            let first = !std::mem::replace(&mut self.told, true);
            return Err(Unrecorded(first.then(|| {
                let path = self.path.display();
                format!(
                    "the capture {path} cannot be written: {error}; frames are missing until it can be written"
                )
            })));
        }
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let packet = PcapPacket::new(now, octets.len() as u32, octets);
        let written = self.writer.write_packet(&packet);
        written.map(|_| ()).map_err(|_| Unrecorded(None))
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        let _ = self.output.flush();
    }
}
