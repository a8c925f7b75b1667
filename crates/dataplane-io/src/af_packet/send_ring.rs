//! A ring of frames for the kernel to send.

use super::Lost;
use super::ring::{AVAILABLE, Ring};
use crate::offload::VirtioHeader;
use libc::tpacket2_hdr as Header;
use std::io;
use std::os::fd::OwnedFd;
use std::ptr;
use std::sync::atomic::Ordering;

/// Values of status words.
const SEND_REQUEST: u32 = 1;
const WRONG_FORMAT: u32 = 4;

/// The offset of a frame's octets: behind the ring's header and the virtio header.
const OFFSET: usize = size_of::<Header>();
const BEFORE: usize = OFFSET + size_of::<VirtioHeader>();
/// Octets of a frame that the kernel copies. For the octets behind them it refers to the pages, which takes a third
/// longer for the frame lengths of Ethernet.
const COPIED: usize = 2048;

/// Frames in the order in which they are to be sent.
#[derive(Debug)]
pub struct SendRing {
    ring: Ring,
    /// The frame that is filled next.
    next: usize,
}

impl SendRing {
    /// Creates a ring, for packets of up to `mtu` octets, on a socket with `PACKET_VNET_HDR` set.
    pub fn of(socket: &OwnedFd, mtu: usize) -> io::Result<Self> {
        let ring = Ring::of(socket, libc::PACKET_TX_RING, mtu)?;
        Ok(SendRing { ring, next: 0 })
    }

    /// Adds a frame to the ring. Returns `false` if the ring is full, or the frame too long for it.
    pub fn put(&mut self, octets: &[u8]) -> bool {
        if !self.is_free(self.next) || octets.len() > self.ring.frame_size() - BEFORE {
            return false;
        }
        let frame = self.ring.frame(self.next);
        let how = VirtioHeader {
            headers: octets.len().min(COPIED) as u16,
            ..VirtioHeader::default()
        };
        // SAFETY: the status word states that user space owns the frame. Headers and octets lie within it and are
        // aligned.
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

    /// Whether there are frames that the kernel has not started to send.
    pub fn waits(&self) -> bool {
        self.status(self.last()) == SEND_REQUEST
    }

    /// Whether there is room for `frames` more frames.
    pub fn has_room(&self, frames: usize) -> bool {
        self.is_free((self.next + frames.max(1) - 1) % self.ring.frames())
    }

    /// Withdraws the frames that the kernel has not started to send. The kernel must not be sending at the same time.
    pub fn withdraw(&mut self) -> Lost {
        let mut lost = Lost::NONE;
        while self.waits() {
            let last = self.last();
            let frame = self.ring.frame(last);
            // SAFETY: the header was written before the frame was passed to the kernel, which only reads the length.
            let length = unsafe { (*frame.cast::<Header>().as_ptr()).tp_len as usize };
            lost += Lost::frame(length - size_of::<VirtioHeader>());
            let status = self.ring.status(frame);
            status.store(AVAILABLE, Ordering::Release);
            self.next = last;
        }
        lost
    }

    /// The index of the frame that was added last.
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
