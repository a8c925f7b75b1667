//! A ring of frames shared with the kernel (packet_mmap.rst, TPACKET_V2).
//!
//! A frame is owned by one side at a time, as recorded in its status word. The owner may access the frame until it
//! writes the word again.

use super::set;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicU32;

/// Octets per ring.
const RING: usize = 4 << 20;
/// Octets per block. Frames do not cross blocks, so a block holds whole frames.
const BLOCK: usize = 1 << 16;

/// Status of an empty frame.
pub const AVAILABLE: u32 = 0;

/// A mapped ring.
#[derive(Debug)]
pub struct Ring {
    base: NonNull<u8>,
    frame_size: usize,
    frames: usize,
}

// SAFETY: this value is the only owner of the mapping, which is not tied to a thread.
unsafe impl Send for Ring {}

impl Ring {
    /// Creates a ring on a socket for packets of up to `mtu` octets: `PACKET_RX_RING` or `PACKET_TX_RING`. A socket has
    /// only one.
    pub fn of(socket: &OwnedFd, which: libc::c_int, mtu: usize) -> io::Result<Ring> {
        let frame_size = frame_size(mtu);
        let block_size = BLOCK.max(frame_size);
        let frames = RING.max(block_size) / frame_size;
        let request = libc::tpacket_req {
            tp_block_size: block_size as u32,
            tp_block_nr: (RING / block_size).max(1) as u32,
            tp_frame_size: frame_size as u32,
            tp_frame_nr: frames as u32,
        };
        let version = libc::tpacket_versions::TPACKET_V2 as libc::c_int;
        set(socket, libc::SOL_PACKET, libc::PACKET_VERSION, &version)?;
        set(socket, libc::SOL_PACKET, which, &request)?;
        // SAFETY: a new mapping at an address that the kernel chooses overlaps nothing.
        let base = unsafe {
            libc::mmap(
                ptr::null_mut(),
                frames * frame_size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                socket.as_raw_fd(),
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base = NonNull::new(base.cast()).ok_or_else(io::Error::last_os_error)?;
        Ok(Ring {
            base,
            frame_size,
            frames,
        })
    }

    /// Whether its frames have room for packets of up to `mtu` octets.
    pub fn holds(&self, mtu: usize) -> bool {
        frame_size(mtu) <= self.frame_size
    }

    /// Octets per frame, including the kernel's header.
    pub fn frame_size(&self) -> usize {
        self.frame_size
    }

    /// The number of frames.
    pub fn frames(&self) -> usize {
        self.frames
    }

    /// The frame at an index.
    pub fn frame(&self, at: usize) -> NonNull<u8> {
        debug_assert!(at < self.frames);
        // SAFETY: the mapping holds `frames` frames.
        unsafe { self.base.add(at * self.frame_size) }
    }

    /// The status word of a frame, which the kernel reads and writes at any time.
    pub fn status(&self, frame: NonNull<u8>) -> &AtomicU32 {
        // SAFETY: the header begins with the word; frames are aligned to 2048 octets and mapped as long as `self`
        // lives; both sides access the word only atomically.
        unsafe { AtomicU32::from_ptr(frame.cast().as_ptr()) }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        let length = self.frames * self.frame_size;
        // SAFETY: the mapping was made with this address and length, and is no longer borrowed.
        unsafe { libc::munmap(self.base.cast().as_ptr(), length) };
    }
}

/// Octets of a frame for packets of up to `mtu` octets: with room for the Ethernet header and tag, the kernel's headers
/// and padding.
fn frame_size(mtu: usize) -> usize {
    (mtu + 256).next_power_of_two().max(2048)
}
