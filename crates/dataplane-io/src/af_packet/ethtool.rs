//! What hardware does to packets unless it is told not to (ethtool ioctls).

use super::check;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

const SIOCETHTOOL: libc::c_ulong = 0x8946;

/// `struct ethtool_value`.
#[repr(C)]
struct Value {
    command: u32,
    data: u32,
}

/// Each with the commands that read and set it: receive and transmit checksums, and packets that are
/// merged or left to be split.
const SWITCHES: [(u32, u32); 5] = [
    (0x14, 0x15), // rx
    (0x16, 0x17), // tx
    (0x1e, 0x1f), // tso
    (0x23, 0x24), // gso
    (0x2b, 0x2c), // gro
];
/// Reads and sets the flags below.
const FLAGS: (u32, u32) = (0x25, 0x26);
/// 802.1Q tags put in and taken out by hardware, and large receives.
const OFFLOADED: u32 = 1 << 7 | 1 << 8 | 1 << 15;

/// An interface's offloads, which are off as long as this lives.
#[derive(Debug)]
pub struct Offloads {
    name: String,
    /// Commands that bring back what was, and their data; the last change first.
    restore: Vec<(u32, u32)>,
}

impl Offloads {
    /// Turns them off. Those that the interface does not have, or has fixed, are left alone.
    pub fn off(name: &str) -> io::Result<Self> {
        let socket = socket()?;
        let mut offloads = Offloads {
            name: name.into(),
            restore: Vec::new(),
        };
        for (get, set) in SWITCHES {
            if let Ok(1) = ioctl(&socket, name, get, 0)
                && ioctl(&socket, name, set, 0).is_ok()
            {
                offloads.restore.insert(0, (set, 1));
            }
        }
        let (get, set) = FLAGS;
        if let Ok(flags) = ioctl(&socket, name, get, 0)
            && flags & OFFLOADED != 0
            && ioctl(&socket, name, set, flags & !OFFLOADED).is_ok()
        {
            offloads.restore.insert(0, (set, flags));
        }
        Ok(offloads)
    }
}

impl Drop for Offloads {
    fn drop(&mut self) {
        let Ok(socket) = socket() else { return };
        // Checksums come back first: what splits packets needs them.
        self.restore.reverse();
        for (command, data) in &self.restore {
            // The interface may be gone.
            let _ = ioctl(&socket, &self.name, *command, *data);
        }
    }
}

fn socket() -> io::Result<OwnedFd> {
    // SAFETY: no pointers; a new descriptor is owned by nobody else.
    unsafe {
        let kind = libc::SOCK_DGRAM | libc::SOCK_CLOEXEC;
        Ok(OwnedFd::from_raw_fd(check(libc::socket(
            libc::AF_INET,
            kind,
            0,
        ))?))
    }
}

fn ioctl(socket: &OwnedFd, name: &str, command: u32, data: u32) -> io::Result<u32> {
    let mut value = Value { command, data };
    // SAFETY: the structure is plain numbers and pointers, for which zero is valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    let room = request.ifr_name.len() - 1;
    for (to, from) in request.ifr_name[..room].iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_data = (&raw mut value).cast();
    // SAFETY: the request and the value that it points to live through the call, and have the layout
    // that these commands read and write.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL, &raw mut request) })?;
    Ok(value.data)
}
