//! Packet sockets (packet(7)), with memory-mapped rings or for frames that hardware cuts, and what an interface must be set to for them.
//!
//! All of the crate's `unsafe` is here: the kernel's structures are reached through pointers.

#![allow(unsafe_code)]

mod device;
mod ethtool;
mod lost;
mod offloads;
mod outgoing;
mod receive_ring;
mod restorer;
mod ring;
mod send_ring;
mod send_socket;
mod socket;
mod whole;

pub use device::Device;
pub use lost::Lost;
pub use offloads::{Offloads, offloads_off};
pub use receive_ring::Frame;
pub use restorer::{Restorer, Undo};
pub use send_socket::SendSocket;
pub use socket::PacketSocket;

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

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

/// A packet socket that receives nothing before it is bound.
fn open() -> io::Result<OwnedFd> {
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: no pointers; a new descriptor is owned by nobody else.
    unsafe {
        let fd = check(libc::socket(libc::AF_PACKET, kind, 0))?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// Binds a packet socket to an interface; with protocol 0 it only sends.
fn bind(fd: &OwnedFd, index: u32, protocol: libc::c_int) -> io::Result<()> {
    // SAFETY: the structure is plain numbers, for which zero is valid.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = (protocol as u16).to_be();
    address.sll_ifindex = index as i32;
    let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: the address lives through the call and is as long as is said.
    let result = unsafe { libc::bind(fd.as_raw_fd(), (&raw const address).cast(), length) };
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
