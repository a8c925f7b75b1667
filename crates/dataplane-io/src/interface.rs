//! An interface as a port of the switch: opening and configuration.

use crate::af_packet::{Device, Frame, Lost, Offloads, PacketSocket, Restorer, Undo, offloads_off};
use crate::error::IoError;
use crate::offload;
use crate::senders::Senders;
use engine::Octets;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::fd::BorrowedFd;

/// Ethernet and loopback, which have the same frame format.
const ETHERNET: [u16; 2] = [libc::ARPHRD_ETHER, libc::ARPHRD_LOOPBACK];

/// An interface that the switch uses.
#[derive(Debug)]
pub struct Interface {
    name: String,
    index: u32,
    mtu: usize,
    socket: PacketSocket,
}

/// A received frame.
#[derive(Debug)]
pub struct Received {
    /// The frame.
    pub octets: Octets,
    /// Octets of data per segment, if it is to be segmented. 0 if it is one segment.
    pub segment: u16,
}

/// The current state of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Followed {
    /// It exists.
    There,
    /// It was deleted.
    Gone,
    /// Its MTU has outgrown the rings: it must be reopened.
    Outgrown,
}

impl Interface {
    /// Opens an interface. The restorer will undo the changes to it.
    pub fn open(name: &str, offloads: Offloads, restorer: &mut Restorer) -> Result<Self, IoError> {
        let failed = |what| move |error: io::Error| interface(name, what, error);
        let valid = names().map_err(failed("cannot be found"))?;
        if !valid.iter().any(|known| known == name) {
            return Err(IoError::NoInterface {
                name: name.into(),
                valid,
            });
        }
        let device = Device::find(name).map_err(failed("cannot be found"))?;
        if !ETHERNET.contains(&device.kind) {
            return Err(IoError::NotEthernet { name: name.into() });
        }
        if !device.up {
            return Err(IoError::Down { name: name.into() });
        }
        // First of all, because this shows whether the process has the permission.
        let socket = PacketSocket::open(device.index, device.mtu, offloads);
        let socket = socket.map_err(failed("no packet socket"))?;
        offloads_off(name, offloads, restorer).map_err(failed("offloads"))?;
        ipv6_off(name, restorer);
        Ok(Interface {
            name: name.into(),
            index: device.index,
            mtu: device.mtu,
            socket,
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The maximum length of an IP packet, in octets.
    pub fn mtu(&self) -> usize {
        self.mtu
    }

    /// Checks whether it still exists, since another one may have its name, and updates the MTU.
    pub fn follow(&mut self) -> Followed {
        let device = Device::find(&self.name).ok();
        let Some(device) = device.filter(|device| device.index == self.index) else {
            return Followed::Gone;
        };
        self.mtu = device.mtu;
        match self.socket.set_mtu(device.mtu) {
            true => Followed::There,
            false => Followed::Outgrown,
        }
    }

    /// Whether its link is up.
    pub fn has_link(&self) -> bool {
        Device::find(&self.name).is_ok_and(|device| device.up && device.running)
    }

    /// The next received frame, in a buffer from `buffer`, with its 802.1Q tag where it was on the wire. Returns
    /// `Some(None)` for a frame that was longer than the interface's MTU allows and was truncated.
    pub fn receive(&mut self, buffer: impl FnOnce() -> Octets) -> Option<Option<Received>> {
        let mut received = None;
        let copy = |frame: Frame<'_>| {
            received = Some((frame.octets.len() == frame.length).then(|| Received {
                segment: frame.segment,
                octets: whole(buffer(), frame),
            }));
        };
        self.socket.receive(copy);
        received
    }

    /// Passes the next received frame to another interface for sending. Returns `false` if there is none. A truncated
    /// or tagged frame is dropped.
    pub fn forward(&mut self, to: &mut Interface) -> bool {
        self.socket.receive(|frame| {
            if frame.octets.len() == frame.length && frame.tag.is_none() {
                to.send(frame.octets);
            }
        })
    }

    /// Accepts a frame for sending. Returns the frames lost: this one or others.
    pub fn send(&mut self, octets: &[u8]) -> Lost {
        self.socket.send(octets)
    }

    /// Sends a frame that is to be segmented. Each segment has `segment` octets of data, and the frame had `data` octets
    /// when it arrived. Returns the losses. It is segmented only if the interface was opened with [`Offloads::Whole`].
    pub fn send_cut(&mut self, octets: &mut [u8], segment: u16, data: u16) -> Lost {
        self.socket.send_cut(octets, segment, data)
    }

    /// Makes the kernel send the accepted frames. Returns the frames lost.
    pub fn flush(&mut self) -> Lost {
        self.socket.flush()
    }

    /// Like [`Self::flush`], on a sender thread if there are enough frames. Frames may wait for another flush; see
    /// [`waits`](Self::waits).
    pub fn flush_by(&mut self, senders: &Senders) -> Lost {
        self.socket.flush_by(senders)
    }

    /// Whether accepted frames wait for a flush.
    pub fn waits(&self) -> bool {
        self.socket.waits()
    }

    /// Withdraws the frames that the kernel has not sent yet.
    pub fn withdraw(&mut self) -> Lost {
        self.socket.withdraw()
    }

    /// Frames that arrived and found no room, since the last call.
    pub fn take_overflow(&self) -> u64 {
        self.socket.take_overflow()
    }

    /// Clears an error, so that polling waits again.
    pub fn clear_error(&self) {
        self.socket.clear_error();
    }

    /// A descriptor that is readable when a frame has arrived.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.fd()
    }
}

/// The frame as it was on the wire.
fn whole(mut octets: Octets, frame: Frame<'_>) -> Octets {
    match (frame.tag, frame.octets.split_at_checked(12)) {
        (Some(tag), Some((addresses, rest))) => {
            octets.extend_from_slice(addresses);
            octets.extend_from_slice(&tag);
            octets.extend_from_slice(rest);
        }
        _ => octets.extend_from_slice(frame.octets),
    }
    if frame.checksum_missing && frame.segment == 0 {
        offload::complete_checksum(&mut octets);
    }
    octets
}

/// Whether there is an interface of this name that is up.
pub fn is_up(name: &str) -> bool {
    Device::find(name).is_ok_and(|device| device.up)
}

/// The names of the interfaces in this network namespace. (`/sys/class/net` shows those of the namespace in which it
/// was mounted.)
pub fn names() -> io::Result<Vec<String>> {
    let table = fs::read_to_string("/proc/net/dev")?;
    let rows = table.lines().filter_map(|line| line.split_once(':'));
    let mut names: Vec<_> = rows.map(|(name, _)| name.trim().to_string()).collect();
    names.sort();
    Ok(names)
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

/// Turns off the kernel's IPv6 on an interface, if there is any, because it sends packets unasked.
fn ipv6_off(name: &str, restorer: &mut Restorer) {
    let path = format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6");
    if fs::read_to_string(&path).is_ok_and(|text| text.trim() == "0") {
        restorer.will_undo(Undo::ipv6(name));
        let _ = fs::write(&path, "1");
    }
}
