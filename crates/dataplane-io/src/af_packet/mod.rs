//! Packet sockets (packet(7)), with memory-mapped rings or for frames that hardware cuts, and what an interface must be set to for them.
//!
//! All of the crate's `unsafe` is here: the kernel's structures are reached through pointers.

#![allow(unsafe_code)]

mod device;
mod ethtool;
mod lost;
mod restorer;
mod ring;
mod socket;
mod whole;

pub use device::Device;
pub use ethtool::{Offloads, offloads_off};
pub use lost::Lost;
pub use restorer::{Restorer, Undo};
pub use ring::Frame;
pub use socket::PacketSocket;

use std::io;

/// What a system call returned, or why it failed.
fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    match result {
        -1 => Err(io::Error::last_os_error()),
        result => Ok(result),
    }
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
