//! A ring of frames received from the kernel.

use super::ring::{AVAILABLE, Ring};
use libc::tpacket2_hdr as Header;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;

/// Status bits: the frame belongs to user space; its checksum was offloaded.
const USER: u32 = 1;
const CHECKSUM_NOT_READY: u32 = 1 << 3;

/// A received frame.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'r> {
    /// Its octets, without the 802.1Q tag that the kernel removed.
    pub octets: &'r [u8],
    /// The removed tag: EtherType and control information.
    pub tag: Option<[u8; 4]>,
    /// Its length on the wire in octets. Larger than `octets` if the frame was truncated.
    pub length: usize,
    /// Whether its sender left the TCP or UDP checksum to hardware, which a virtual interface does not have.
    pub checksum_missing: bool,
    /// Octets of data per segment, if its sender left segmentation to hardware. 0 if the frame is one segment.
    pub segment: u16,
}

impl Frame<'_> {
    /// A frame that was too long, without octets.
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

/// Frames in the order of their arrival.
#[derive(Debug)]
pub struct ReceiveRing {
    ring: Ring,
    /// The frame that the kernel will fill next.
    next: usize,
}

impl ReceiveRing {
    /// Creates a ring on a socket, for packets of up to `mtu` octets.
    pub fn of(socket: &OwnedFd, mtu: usize) -> io::Result<Self> {
        let ring = Ring::of(socket, libc::PACKET_RX_RING, mtu)?;
        Ok(ReceiveRing { ring, next: 0 })
    }

    /// Whether it has room for packets of up to `mtu` octets.
    pub fn holds(&self, mtu: usize) -> bool {
        self.ring.holds(mtu)
    }

    /// Passes the next frame to `each`. Returns `false` if there is none.
    pub fn receive(&mut self, each: impl FnOnce(Frame<'_>)) -> bool {
        let frame = self.ring.frame(self.next);
        let status = self.ring.status(frame).load(Ordering::Acquire);
        if status & USER == 0 {
            return false;
        }
        // SAFETY: the status word states that user space owns the frame. The kernel wrote the complete header before
        // the status word, and writes nothing until the frame is returned.
        let header = unsafe { frame.cast::<Header>().read() };
        let size = self.ring.frame_size();
        let from = usize::from(header.tp_mac).min(size);
        let held = (header.tp_snaplen as usize).min(size - from);
        // SAFETY: `from + held` lies within the frame, which user space owns as long as the slice lives.
        let octets = unsafe { std::slice::from_raw_parts(frame.add(from).as_ptr(), held) };
        let tag = super::tag(status, header.tp_vlan_tpid, header.tp_vlan_tci);
        each(Frame {
            octets,
            tag,
            length: header.tp_len as usize,
            checksum_missing: status & CHECKSUM_NOT_READY != 0,
            segment: 0,
        });
        self.ring.status(frame).store(AVAILABLE, Ordering::Release);
        self.next = (self.next + 1) % self.ring.frames();
        true
    }
}
