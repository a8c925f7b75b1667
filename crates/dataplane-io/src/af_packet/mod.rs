//! Packet sockets (packet(7)), with memory-mapped rings or for frames that hardware cuts, and what an interface must be set to for them.
//!
//! All of the crate's `unsafe` is here: the kernel's structures are reached through pointers.

#![allow(unsafe_code)]

mod device;
mod ethtool;
mod lost;
mod offloads;
mod restorer;
mod ring;
mod socket;
mod whole;

pub use device::Device;
pub use lost::Lost;
pub use offloads::{Offloads, offloads_off};
pub use restorer::{Restorer, Undo};
pub use ring::Frame;
pub use socket::PacketSocket;

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// What a system call returned, or why it failed.
fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    match result {
        -1 => Err(io::Error::last_os_error()),
        result => Ok(result),
    }
}

/// Sets an option of a socket.
fn set<T>(fd: &OwnedFd, level: libc::c_int, option: libc::c_int, value: &T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    let value = std::ptr::from_ref(value).cast();
    // SAFETY: the value lives through the call and is as long as is said; each option is given
    // the type that packet(7) or socket(7) says.
    let result = unsafe { libc::setsockopt(fd.as_raw_fd(), level, option, value, length) };
    check(result).map(|_| ())
}

/// Status bits: the kernel took an 802.1Q tag out of a frame, and its EtherType is known.
const VLAN_VALID: u32 = 1 << 4;
const VLAN_TPID_VALID: u32 = 1 << 6;

/// The 802.1Q tag that the kernel took out of a frame: EtherType and control information.
fn tag(status: u32, kind: u16, control: u16) -> Option<[u8; 4]> {
    let kind = match status & VLAN_TPID_VALID {
        0 => 0x8100,
        _ => kind,
    };
    let ([a, b], [c, d]) = (kind.to_be_bytes(), control.to_be_bytes());
    (status & VLAN_VALID != 0).then_some([a, b, c, d])
}
