//! Packet sockets (packet(7)) with memory-mapped rings, and what an interface must be set to for them.
//!
//! All of the crate's `unsafe` is here: the kernel's structures are reached through pointers.

#![allow(unsafe_code)]

mod device;
mod ethtool;
mod restorer;
mod ring;
mod socket;

pub use device::Device;
pub use ethtool::offloads_off;
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
