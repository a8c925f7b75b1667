//! What hardware does to packets unless it is told not to (ethtool ioctls).

use super::device;
use super::restorer::{Restorer, Undo};
use std::io;
use std::os::fd::OwnedFd;

const SIOCETHTOOL: libc::c_ulong = 0x8946;

/// `struct ethtool_value`.
#[repr(C)]
struct Value {
    command: u32,
    data: u32,
}

/// Each with the commands that read and set it: receive and transmit checksums, and packets that are
/// merged or left to be split. Checksums are first, and come back first: what splits packets needs them.
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

/// Turns an interface's offloads off. Those that it does not have, or has fixed, are left alone.
pub fn offloads_off(name: &str, restorer: &mut Restorer) -> io::Result<()> {
    let socket = device::socket()?;
    let mut change = |set, from, to| {
        restorer.will_undo(Undo::offload(name, set, from));
        let _ = ethtool(&socket, name.as_bytes(), set, to);
    };
    for (get, set) in SWITCHES {
        if let Ok(1) = ethtool(&socket, name.as_bytes(), get, 0) {
            change(set, 1, 0);
        }
    }
    let (get, set) = FLAGS;
    if let Ok(flags) = ethtool(&socket, name.as_bytes(), get, 0)
        && flags & OFFLOADED != 0
    {
        change(set, flags, flags & !OFFLOADED);
    }
    Ok(())
}

/// Carries out an ethtool command that takes and returns a number.
pub fn ethtool(socket: &OwnedFd, name: &[u8], command: u32, data: u32) -> io::Result<u32> {
    let mut value = Value { command, data };
    let mut request = device::request(name);
    request.ifr_ifru.ifru_data = (&raw mut value).cast();
    device::ioctl(socket, SIOCETHTOOL, &mut request)?;
    Ok(value.data)
}
