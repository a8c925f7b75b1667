//! An interface as a port of the switch: found, set up, and put back as it was.

use crate::af_packet::{Frame, Offloads, PacketSocket};
use crate::error::IoError;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};

/// `ARPHRD_ETHER` and `ARPHRD_LOOPBACK`, whose frames look the same.
const ETHERNET: [&str; 2] = ["1", "772"];
/// `IFF_UP`.
const UP: u32 = 1;

/// An interface that the switch uses. As it is dropped, the interface is put back as it was.
#[derive(Debug)]
pub struct Interface {
    name: String,
    socket: PacketSocket,
    _offloads: Offloads,
    _ipv6: Ipv6Off,
}

impl Interface {
    /// Takes an interface.
    pub fn open(name: &str) -> Result<Self, IoError> {
        let valid = names();
        if !valid.iter().any(|known| known == name) {
            return Err(IoError::NoInterface {
                name: name.into(),
                valid,
            });
        }
        let failed = |what| move |error: io::Error| interface(name, what, error);
        let read = |file: &str| read(name, file).map_err(failed("cannot be read"));
        if !ETHERNET.contains(&read("type")?.as_str()) {
            return Err(IoError::NotEthernet { name: name.into() });
        }
        let flags = read("flags")?;
        let flags = u32::from_str_radix(flags.trim_start_matches("0x"), 16).unwrap_or(0);
        if flags & UP == 0 {
            return Err(IoError::Down { name: name.into() });
        }
        let index = read("ifindex")?.parse().unwrap_or(0);
        let mtu = read("mtu")?.parse().unwrap_or(1500);
        // First of all, as it shows whether this may be done at all.
        let socket = PacketSocket::open(index, mtu).map_err(failed("no packet socket"))?;
        Ok(Interface {
            _offloads: Offloads::off(name).map_err(failed("offloads"))?,
            _ipv6: Ipv6Off::on(name),
            name: name.into(),
            socket,
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The next frame that came in, in a buffer from `buffer`, its 802.1Q tag where it was on the wire;
    /// `Some(None)` for one that was longer than the interface's MTU allows and was cut.
    pub fn receive(&mut self, buffer: impl FnOnce() -> Vec<u8>) -> Option<Option<Vec<u8>>> {
        let mut received = None;
        let copy = |frame: Frame<'_>| {
            received = Some((frame.octets.len() == frame.length).then(|| whole(buffer(), frame)));
        };
        self.socket.receive(copy);
        received
    }

    /// Takes a frame for sending; `false` if it cannot be sent.
    pub fn send(&mut self, octets: &[u8]) -> bool {
        self.socket.send(octets)
    }

    /// Has the kernel send what was taken.
    pub fn flush(&mut self) {
        self.socket.flush();
    }

    /// Takes back an error, so that polling waits again.
    pub fn clear_error(&self) {
        self.socket.clear_error();
    }

    /// Readable when a frame has come.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.fd()
    }
}

/// The frame as it was on the wire.
fn whole(mut octets: Vec<u8>, frame: Frame<'_>) -> Vec<u8> {
    match (frame.tag, frame.octets.split_at_checked(12)) {
        (Some(tag), Some((addresses, rest))) => {
            octets.extend_from_slice(addresses);
            octets.extend_from_slice(&tag);
            octets.extend_from_slice(rest);
        }
        _ => octets.extend_from_slice(frame.octets),
    }
    if frame.checksum_missing {
        crate::checksum::complete(&mut octets);
    }
    octets
}

/// The names of this machine's (or network namespace's) interfaces.
pub fn names() -> Vec<String> {
    let entries = fs::read_dir("/sys/class/net")
        .into_iter()
        .flatten()
        .flatten();
    let interfaces = entries.filter(|entry| entry.path().join("ifindex").exists());
    let mut names: Vec<_> = interfaces
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn read(name: &str, file: &str) -> io::Result<String> {
    let path = Path::new("/sys/class/net").join(name).join(file);
    Ok(fs::read_to_string(path)?.trim().to_string())
}

fn interface(name: &str, what: &'static str, error: io::Error) -> IoError {
    match error.kind() {
        ErrorKind::PermissionDenied => IoError::NotRoot,
        _ => IoError::Interface {
            name: name.into(),
            what,
            error,
        },
    }
}

/// The host's IPv6 on an interface, which speaks unasked; off as long as this lives.
#[derive(Debug)]
struct Ipv6Off(Option<PathBuf>);

impl Ipv6Off {
    /// Turns it off, where there is any.
    fn on(name: &str) -> Self {
        let path = PathBuf::from(format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6"));
        let enabled = fs::read_to_string(&path).is_ok_and(|text| text.trim() == "0");
        let changed = enabled && fs::write(&path, "1").is_ok();
        Ipv6Off(changed.then_some(path))
    }
}

impl Drop for Ipv6Off {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // The interface may be gone.
            let _ = fs::write(path, "0");
        }
    }
}
