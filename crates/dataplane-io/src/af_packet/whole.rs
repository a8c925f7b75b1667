//! Unsegmented frames with the offload information of their sender (`PACKET_VNET_HDR`). A TCP frame may have 64 kB.
//!
//! A TPACKET_V2 ring would need room for 64 kB per frame, so each frame takes a system call instead. (TPACKET_V3 blocks
//! would work, but deliver a single frame only after a timeout.) Frames pass through the queueing discipline of the
//! interface, because the kernel drops frames to be segmented if they bypass it (`PACKET_QDISC_BYPASS`).

use super::receive_ring::Frame;
use super::{Lost, set};
use crate::offload::{Cut, VirtioHeader};
use libc::{c_int, c_void};
use std::io;
use std::mem::zeroed;
use std::os::fd::{AsRawFd, OwnedFd};

/// The longest IP packet, the Ethernet header, and two tags.
const LONGEST: usize = 65_535 + 14 + 8;
/// Socket buffer size in each direction, in octets.
const HELD: c_int = 16 << 20;
/// Octets of the control message that contains the tag.
const CONTROL: usize = 64;

/// Receives and sends such frames.
#[derive(Debug)]
pub struct Whole {
    buffer: Vec<u8>,
}

/// Buffer for a control message, with the required alignment.
#[repr(align(8))]
struct Control([u8; CONTROL]);

impl Whole {
    /// Configures a socket for such frames.
    pub fn set_up(fd: &OwnedFd) -> io::Result<Self> {
        set(fd, libc::SOL_PACKET, libc::PACKET_VNET_HDR, &1)?;
        set(fd, libc::SOL_PACKET, libc::PACKET_AUXDATA, &1)?;
        set(fd, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &HELD)?;
        set(fd, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &HELD)?;
        Ok(Whole {
            buffer: vec![0; LONGEST],
        })
    }

    /// Passes the next frame to `each`. Returns `false` if there is none.
    pub fn receive(&mut self, fd: &OwnedFd, each: impl FnOnce(Frame<'_>)) -> bool {
        let mut header = VirtioHeader::default();
        let mut control = Control([0; CONTROL]);
        let mut parts = [
            part((&raw mut header).cast(), size_of::<VirtioHeader>()),
            part(self.buffer.as_mut_ptr().cast(), self.buffer.len()),
        ];
        let mut message = message(&mut parts);
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = CONTROL as _;
        let flags = libc::MSG_DONTWAIT | libc::MSG_TRUNC;
        // SAFETY: everything that the message points to lives through the call and has the given length.
        let came = unsafe { libc::recvmsg(fd.as_raw_fd(), &raw mut message, flags) };
        let Ok(came) = usize::try_from(came) else {
            // The kernel drops a frame that the header cannot describe.
            let refused = io::Error::last_os_error().raw_os_error() == Some(libc::EINVAL);
            if refused {
                each(Frame::too_long());
            }
            return refused;
        };
        let length = came.saturating_sub(size_of::<VirtioHeader>());
        let octets = &self.buffer[..length.min(LONGEST)];
        each(Frame {
            octets,
            tag: tag(&message),
            length,
            checksum_missing: header.flags & VirtioHeader::NEEDS_CHECKSUM != 0,
            segment: if header.kind == 0 { 0 } else { header.segment },
        });
        true
    }

    /// Sends a frame as it is. Returns the frames lost.
    pub fn send(&mut self, fd: &OwnedFd, octets: &[u8]) -> Lost {
        submit(fd, &VirtioHeader::default(), octets)
    }

    /// Sends a frame that the interface or the kernel segments. Returns the frames lost.
    pub fn send_cut(&mut self, fd: &OwnedFd, octets: &[u8], cut: &Cut) -> Lost {
        submit(fd, &cut.header, &octets[..cut.length])
    }
}

fn submit(fd: &OwnedFd, header: &VirtioHeader, octets: &[u8]) -> Lost {
    let mut parts = [
        part(
            std::ptr::from_ref(header).cast_mut().cast(),
            size_of::<VirtioHeader>(),
        ),
        part(octets.as_ptr().cast_mut().cast(), octets.len()),
    ];
    let message = message(&mut parts);
    // SAFETY: everything that the message points to lives through the call, has the given length, and is only read.
    let sent = unsafe { libc::sendmsg(fd.as_raw_fd(), &raw const message, libc::MSG_DONTWAIT) };
    match sent {
        0.. => Lost::NONE,
        _ => Lost::frame(octets.len()),
    }
}

fn part(start: *mut c_void, octets: usize) -> libc::iovec {
    libc::iovec {
        iov_base: start,
        iov_len: octets,
    }
}

fn message(parts: &mut [libc::iovec; 2]) -> libc::msghdr {
    // SAFETY: the structure is plain numbers and pointers, for which zero is valid.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_iov = parts.as_mut_ptr();
    message.msg_iovlen = parts.len() as _;
    message
}

/// The 802.1Q tag that the kernel removed from the frame.
fn tag(message: &libc::msghdr) -> Option<[u8; 4]> {
    // SAFETY: the kernel wrote complete control messages with their lengths.
    let auxiliary = unsafe {
        let control = libc::CMSG_FIRSTHDR(message);
        let wanted = !control.is_null()
            && (*control).cmsg_level == libc::SOL_PACKET
            && (*control).cmsg_type == libc::PACKET_AUXDATA;
        wanted.then(|| {
            libc::CMSG_DATA(control)
                .cast::<libc::tpacket_auxdata>()
                .read_unaligned()
        })
    }?;
    let (kind, control) = (auxiliary.tp_vlan_tpid, auxiliary.tp_vlan_tci);
    super::tag(auxiliary.tp_status, kind, control)
}
