//! Rings of frames shared with the kernel (packet_mmap.rst, TPACKET_V2).
//!
//! A frame belongs to one side at a time, which its status word names. That side may access the frame
//! until it writes the word again.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, Ordering};

use super::Lost;
use libc::tpacket2_hdr as Header;

/// Octets of one ring.
const RING: usize = 4 << 20;
/// Octets of a block; frames do not cross blocks, so a block holds whole frames.
const BLOCK: usize = 1 << 16;
/// Octets in front of a frame that is to be sent.
const SEND_OFFSET: usize = size_of::<Header>();

/// Status words.
const AVAILABLE: u32 = 0;
const USER: u32 = 1;
const SEND_REQUEST: u32 = 1;
const WRONG_FORMAT: u32 = 4;
const CHECKSUM_NOT_READY: u32 = 1 << 3;

/// A frame that was received.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'r> {
    /// Its octets, without the 802.1Q tag that the kernel took out.
    pub octets: &'r [u8],
    /// That tag: EtherType and control information.
    pub tag: Option<[u8; 4]>,
    /// Octets that it had on the wire; more than are here if it was cut.
    pub length: usize,
    /// Its sender left the TCP or UDP checksum to hardware, which a virtual interface does not have.
    pub checksum_missing: bool,
    /// Octets of data in each segment that its sender left to hardware to cut; 0: the frame is one segment.
    pub segment: u16,
}

impl Frame<'_> {
    /// A frame without its octets.
    pub fn too_long() -> Self {
        Frame {
            octets: &[],
            tag: None,
            length: usize::MAX,
            checksum_missing: false,
            segment: 0,
        }
    }
}

/// A receive ring and a send ring in one mapping.
#[derive(Debug)]
pub struct Rings {
    base: NonNull<u8>,
    frame_size: usize,
    frames: usize,
    /// The frame that the kernel fills next.
    receive: usize,
    /// The frame that is filled next for sending.
    send: usize,
    /// Whether the kernel has to be notified of frames to send.
    unsent: bool,
}

// SAFETY: the mapping belongs to this value alone and is not tied to a thread.
unsafe impl Send for Rings {}

impl Rings {
    /// What both rings of a socket must be set to for packets of `mtu` octets.
    pub fn request(mtu: usize) -> libc::tpacket_req {
        // Room for Ethernet and tag, and for the kernel's header and padding.
        let frame_size = (mtu + 256).next_power_of_two().max(2048);
        let block_size = BLOCK.max(frame_size);
        libc::tpacket_req {
            tp_block_size: block_size as u32,
            tp_block_nr: (RING / block_size).max(1) as u32,
            tp_frame_size: frame_size as u32,
            tp_frame_nr: (RING.max(block_size) / frame_size) as u32,
        }
    }

    /// Maps the rings of a socket on which both have been set to `request`.
    pub fn map(socket: BorrowedFd<'_>, request: &libc::tpacket_req) -> io::Result<Rings> {
        let frame_size = request.tp_frame_size as usize;
        let frames = request.tp_frame_nr as usize;
        let length = 2 * frames * frame_size;
        // SAFETY: a new mapping at an address of the kernel's choice touches nothing that is there.
        let base = unsafe {
            libc::mmap(
                ptr::null_mut(),
                length,
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
        Ok(Rings {
            base,
            frame_size,
            frames,
            receive: 0,
            send: 0,
            unsent: false,
        })
    }

    /// Hands the next frame that was received to `each`; `false` if there is none.
    pub fn receive(&mut self, each: impl FnOnce(Frame<'_>)) -> bool {
        let frame = self.frame(self.receive);
        let status = self.status(frame).load(Ordering::Acquire);
        if status & USER == 0 {
            return false;
        }
        // SAFETY: the status word says that the frame is ours; the kernel has written a whole header
        // before it wrote that, and writes nothing until it is given back.
        let header = unsafe { frame.cast::<Header>().read() };
        let from = usize::from(header.tp_mac).min(self.frame_size);
        let held = (header.tp_snaplen as usize).min(self.frame_size - from);
        // SAFETY: `from + held` lies within the frame, which is ours as long as the slice lives.
        let octets = unsafe { std::slice::from_raw_parts(frame.add(from).as_ptr(), held) };
        let tag = super::tag(status, header.tp_vlan_tpid, header.tp_vlan_tci);
        each(Frame {
            octets,
            tag,
            length: header.tp_len as usize,
            checksum_missing: status & CHECKSUM_NOT_READY != 0,
            segment: 0,
        });
        self.status(frame).store(AVAILABLE, Ordering::Release);
        self.receive = (self.receive + 1) % self.frames;
        true
    }

    /// Puts a frame into the send ring; `false` if it is full, or the frame too long for it.
    pub fn send(&mut self, octets: &[u8]) -> bool {
        let frame = self.frame(self.frames + self.send);
        let status = self.status(frame).load(Ordering::Acquire);
        let free = matches!(status, AVAILABLE | WRONG_FORMAT);
        if !free || octets.len() > self.frame_size - SEND_OFFSET {
            return false;
        }
        // SAFETY: the status word says that the frame is ours, and header and octets lie within it.
        unsafe {
            let header = frame.cast::<Header>();
            (*header.as_ptr()).tp_len = octets.len() as u32;
            let data = frame.add(SEND_OFFSET).as_ptr();
            ptr::copy_nonoverlapping(octets.as_ptr(), data, octets.len());
        }
        self.status(frame).store(SEND_REQUEST, Ordering::Release);
        self.send = (self.send + 1) % self.frames;
        self.unsent = true;
        true
    }

    /// Takes back the frames that the kernel has not begun to send.
    pub fn withdraw(&mut self) -> Lost {
        let mut lost = Lost::NONE;
        loop {
            let last = (self.send + self.frames - 1) % self.frames;
            let frame = self.frame(self.frames + last);
            let status = self.status(frame);
            if status.load(Ordering::Acquire) != SEND_REQUEST {
                self.unsent = false;
                return lost;
            }
            lost += Lost::frame(self.length(frame));
            status.store(AVAILABLE, Ordering::Release);
            self.send = last;
        }
    }

    /// The frame that the kernel has sent or given up last.
    pub fn last_done(&self) -> Lost {
        let back = |place: usize| self.frames + (self.send + self.frames - 1 - place) % self.frames;
        let mut frames = (0..self.frames).map(|place| self.frame(back(place)));
        let is_done =
            |frame: &NonNull<u8>| self.status(*frame).load(Ordering::Acquire) != SEND_REQUEST;
        let done = frames.find(is_done);
        done.map_or(Lost::NONE, |frame| Lost::frame(self.length(frame)))
    }

    /// Octets of a frame in the send ring.
    fn length(&self, frame: NonNull<u8>) -> usize {
        // SAFETY: the header is within the frame. This side alone writes its length, and the kernel only reads it.
        unsafe { (*frame.cast::<Header>().as_ptr()).tp_len as usize }
    }

    /// Whether the kernel has to be notified of frames. Resets this.
    pub fn take_unsent(&mut self) -> bool {
        std::mem::take(&mut self.unsent)
    }

    /// Frames still wait.
    pub fn set_unsent(&mut self) {
        self.unsent = true;
    }

    /// A frame by its place in the mapping: first those of the receive ring.
    fn frame(&self, at: usize) -> NonNull<u8> {
        debug_assert!(at < 2 * self.frames);
        // SAFETY: the mapping holds twice `frames` frames.
        unsafe { self.base.add(at * self.frame_size) }
    }

    /// A frame's status word, which the kernel reads and writes at any time.
    fn status(&self, frame: NonNull<u8>) -> &AtomicU32 {
        // SAFETY: the header begins with the word, frames are aligned to 2048 octets and mapped as long
        // as `self` lives; both sides access the word atomically only.
        unsafe { AtomicU32::from_ptr(frame.cast().as_ptr()) }
    }
}

impl Drop for Rings {
    fn drop(&mut self) {
        let length = 2 * self.frames * self.frame_size;
        // SAFETY: the mapping was made with this address and length, and nothing borrows from it now.
        unsafe { libc::munmap(self.base.cast().as_ptr(), length) };
    }
}
