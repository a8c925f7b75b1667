//! Captures of what goes in and out of a port, as pcap files with nanoseconds.

use crate::error::IoError;
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::{DataLink, TsResolution};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// A port's captures: `IFACE_in.pcap` and `IFACE_out.pcap`.
pub struct Capture {
    incoming: PcapWriter<Output>,
    outgoing: PcapWriter<Output>,
    outputs: [Output; 2],
}

/// A buffered file, which can be flushed while a writer of captures has it.
#[derive(Clone)]
struct Output(Arc<Mutex<BufWriter<File>>>);

impl Output {
    fn file(&self) -> MutexGuard<'_, BufWriter<File>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for Output {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        self.file().write(octets)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file().flush()
    }
}

impl Capture {
    /// Begins captures in a folder, which is made if it is not there.
    pub fn create(folder: &Path, name: &str) -> Result<Self, IoError> {
        std::fs::create_dir_all(folder).map_err(|error| IoError::Capture {
            path: folder.into(),
            error,
        })?;
        let open = |direction: &str| {
            let path = folder.join(format!("{name}_{direction}.pcap"));
            let created = File::create(&path).and_then(|file| {
                let output = Output(Arc::new(Mutex::new(BufWriter::new(file))));
                let header = PcapHeader {
                    datalink: DataLink::ETHERNET,
                    ts_resolution: TsResolution::NanoSecond,
                    ..PcapHeader::default()
                };
                let writer = PcapWriter::with_header(output.clone(), header);
                Ok((writer.map_err(io::Error::other)?, output))
            });
            created.map_err(|error| IoError::Capture { path, error })
        };
        let (incoming, in_output) = open("in")?;
        let (outgoing, out_output) = open("out")?;
        Ok(Capture {
            incoming,
            outgoing,
            outputs: [in_output, out_output],
        })
    }

    /// Records a frame that came in.
    pub fn incoming(&mut self, octets: &[u8]) {
        write(&mut self.incoming, octets);
    }

    /// Records a frame that goes out.
    pub fn outgoing(&mut self, octets: &[u8]) {
        write(&mut self.outgoing, octets);
    }

    /// Writes what is buffered, so that a reader sees it.
    pub fn flush(&mut self) {
        for output in &mut self.outputs {
            let _ = output.flush();
        }
    }
}

/// A capture that cannot be written (a full disk) must not stop the switch.
fn write(writer: &mut PcapWriter<Output>, octets: &[u8]) {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let _ = writer.write_packet(&PcapPacket::new(now, octets.len() as u32, octets));
}
