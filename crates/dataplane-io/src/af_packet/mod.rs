//! Packet sockets (packet(7)), with memory-mapped rings or with segmentation offload, and the interface settings that
//! they need.
//!
//! All `unsafe` code of the crate is here, because the kernel's structures are accessed through pointers.

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

/// Converts the result of a system call.
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
    // SAFETY: the value lives through the call and has the given length. Each option is passed the type that packet(7)
    // or socket(7) specifies.
    let result = unsafe { libc::setsockopt(fd.as_raw_fd(), level, option, value, length) };
    check(result).map(|_| ())
}

/// Opens a packet socket. It receives nothing until it is bound.
fn open() -> io::Result<OwnedFd> {
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: no pointers are passed; the new descriptor has no other owner.
    unsafe {
        let fd = check(libc::socket(libc::AF_PACKET, kind, 0))?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// Binds a packet socket to an interface. With protocol 0, the socket only sends.
fn bind(fd: &OwnedFd, index: u32, protocol: libc::c_int) -> io::Result<()> {
    // SAFETY: the structure is plain numbers, for which zero is valid.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = (protocol as u16).to_be();
    address.sll_ifindex = index as i32;
    let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: the address lives through the call and has the given length.
    let result = unsafe { libc::bind(fd.as_raw_fd(), (&raw const address).cast(), length) };
    check(result).map(|_| ())
}

/// Status bits: the kernel removed an 802.1Q tag from a frame, and its EtherType is known.
const VLAN_VALID: u32 = 1 << 4;
const VLAN_TPID_VALID: u32 = 1 << 6;

/// The 802.1Q tag that the kernel removed from a frame: EtherType and control information.
fn tag(status: u32, kind: u16, control: u16) -> Option<[u8; 4]> {
    let kind = match status & VLAN_TPID_VALID {
        0 => 0x8100,
        _ => kind,
    };
    let ([a, b], [c, d]) = (kind.to_be_bytes(), control.to_be_bytes());
    (status & VLAN_VALID != 0).then_some([a, b, c, d])
}
