//! A ring of frames that the kernel is to send.

use super::Lost;
use super::ring::{AVAILABLE, Ring};
use crate::offload::VirtioHeader;
use libc::tpacket2_hdr as Header;
use std::io;
use std::os::fd::OwnedFd;
use std::ptr;
use std::sync::atomic::Ordering;

/// Status words.
const SEND_REQUEST: u32 = 1;
const WRONG_FORMAT: u32 = 4;

/// What is in front of a frame's octets: the ring's header, and how they are to be sent.
const OFFSET: usize = size_of::<Header>();
const BEFORE: usize = OFFSET + size_of::<VirtioHeader>();
/// Octets of a frame that the kernel copies. It refers to the pages of those behind them, which takes a third longer
/// for the lengths that Ethernet has.
const COPIED: usize = 2048;

/// Frames in the order in which they are to be sent.
#[derive(Debug)]
pub struct SendRing {
    ring: Ring,
    /// The frame that is filled next.
    next: usize,
}

impl SendRing {
    /// Gives a socket, on which `PACKET_VNET_HDR` is set, a ring for packets of up to `mtu` octets.
    pub fn of(socket: &OwnedFd, mtu: usize) -> io::Result<Self> {
        let ring = Ring::of(socket, libc::PACKET_TX_RING, mtu)?;
        Ok(SendRing { ring, next: 0 })
    }

    /// Puts a frame into the ring; `false` if it is full, or the frame too long for it.
    pub fn put(&mut self, octets: &[u8]) -> bool {
        if !self.is_free(self.next) || octets.len() > self.ring.frame_size() - BEFORE {
            return false;
        }
        let frame = self.ring.frame(self.next);
        let how = VirtioHeader {
            headers: octets.len().min(COPIED) as u16,
            ..VirtioHeader::default()
        };
        // SAFETY: the status word says that the frame is ours, and headers and octets lie within it, each aligned.
        unsafe {
            let header = frame.cast::<Header>();
            (*header.as_ptr()).tp_len = (size_of::<VirtioHeader>() + octets.len()) as u32;
            frame.add(OFFSET).cast::<VirtioHeader>().write(how);
            let data = frame.add(BEFORE).as_ptr();
            ptr::copy_nonoverlapping(octets.as_ptr(), data, octets.len());
        }
        let status = self.ring.status(frame);
        status.store(SEND_REQUEST, Ordering::Release);
        self.next = (self.next + 1) % self.ring.frames();
        true
    }

    /// Whether there are frames that the kernel has not begun to send.
    pub fn waits(&self) -> bool {
        self.status(self.last()) == SEND_REQUEST
    }

    /// Whether there is room for this many more frames.
    pub fn has_room(&self, frames: usize) -> bool {
        self.is_free((self.next + frames.max(1) - 1) % self.ring.frames())
    }

    /// Takes back the frames that the kernel has not begun to send. It must not be sending any meanwhile.
    pub fn withdraw(&mut self) -> Lost {
        let mut lost = Lost::NONE;
        while self.waits() {
            let last = self.last();
            let frame = self.ring.frame(last);
            // SAFETY: the header was written before the frame was given to the kernel, which only reads its length.
            let length = unsafe { (*frame.cast::<Header>().as_ptr()).tp_len as usize };
            lost += Lost::frame(length - size_of::<VirtioHeader>());
            let status = self.ring.status(frame);
            status.store(AVAILABLE, Ordering::Release);
            self.next = last;
        }
        lost
    }

    /// The place of the frame that was put there last.
    fn last(&self) -> usize {
        (self.next + self.ring.frames() - 1) % self.ring.frames()
    }

    fn is_free(&self, at: usize) -> bool {
        matches!(self.status(at), AVAILABLE | WRONG_FORMAT)
    }

    fn status(&self, at: usize) -> u32 {
        let frame = self.ring.frame(at);
        self.ring.status(frame).load(Ordering::Acquire)
    }
}
