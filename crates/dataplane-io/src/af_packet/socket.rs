//! A packet socket on one interface.

use super::offloads::Offloads;
use super::outgoing::Outgoing;
use super::receive_ring::{Frame, ReceiveRing};
use super::whole::Whole;
use super::{Lost, bind, check, open, set};
use crate::offload;
use crate::senders::Senders;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Sends and receives whole frames on an interface, which is in promiscuous mode as long as this value lives.
#[derive(Debug)]
pub struct PacketSocket {
    path: Path,
    fd: OwnedFd,
    /// The largest packet that the interface sends. The kernel silently skips longer ones.
    mtu: usize,
}

/// How frames are exchanged with the kernel.
#[derive(Debug)]
enum Path {
    Rings {
        incoming: ReceiveRing,
        outgoing: Outgoing,
    },
    Whole(Whole),
}

/// The minimum length of a frame: two addresses and an EtherType.
const HEADER: usize = 14;
/// Octets of an 802.1Q tag, which are not part of the MTU, and the EtherType of such a tag.
const TAG: usize = 4;
const TAGGED: [u8; 2] = [0x81, 0x00];

impl PacketSocket {
    /// Opens a socket on the interface with this number, for packets of up to `mtu` octets.
    pub fn open(index: u32, mtu: usize, offloads: Offloads) -> io::Result<Self> {
        let fd = open()?;
        // Frames that the switch or the host itself sends on this interface must not be received.
        set(&fd, libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &1)?;
        let path = match offloads {
            Offloads::Off => Path::Rings {
                incoming: ReceiveRing::of(&fd, mtu)?,
                outgoing: Outgoing::open(index, mtu)?,
            },
            Offloads::Whole => Path::Whole(Whole::set_up(&fd)?),
        };
        let membership = libc::packet_mreq {
            mr_ifindex: index as libc::c_int,
            mr_type: libc::PACKET_MR_PROMISC as libc::c_ushort,
            mr_alen: 0,
            mr_address: [0; 8],
        };
        set(
            &fd,
            libc::SOL_PACKET,
            libc::PACKET_ADD_MEMBERSHIP,
            &membership,
        )?;
        bind(&fd, index, libc::ETH_P_ALL)?;
        Ok(PacketSocket { path, fd, mtu })
    }

    /// Passes the next frame to `each`. Returns `false` if there is none.
    pub fn receive(&mut self, each: impl FnOnce(Frame<'_>)) -> bool {
        match &mut self.path {
            Path::Rings { incoming, .. } => incoming.receive(each),
            Path::Whole(whole) => whole.receive(&self.fd, each),
        }
    }

    /// Accepts a frame for sending. Returns the frames lost: this one, if there is no room for it or it is invalid, and
    /// earlier ones.
    pub fn send(&mut self, octets: &[u8]) -> Lost {
        let tag = match octets.get(12..HEADER) {
            Some(kind) if kind == TAGGED => TAG,
            Some(_) => 0,
            None => return Lost::frame(octets.len()),
        };
        if octets.len() > HEADER + tag + self.mtu {
            return Lost::frame(octets.len());
        }
        match &mut self.path {
            Path::Rings { outgoing, .. } => outgoing.send(octets),
            Path::Whole(whole) => whole.send(&self.fd, octets),
        }
    }

    /// Sends a frame that is to be segmented. Each segment has `segment` octets of data, and the frame had `data` octets
    /// when it arrived. Returns the losses. A frame that cannot be segmented is sent unchanged: a truncated packet, or
    /// one with different data, such as a telemetry header after the TCP header, which would shift the stream.
    pub fn send_cut(&mut self, octets: &mut [u8], segment: u16, data: u16) -> Lost {
        if offload::data(octets) != data {
            offload::whole(octets);
            return self.send(octets);
        }
        let cut = offload::cut(octets, segment);
        match (&mut self.path, cut) {
            (Path::Whole(whole), Some(cut)) => {
                let fits = cut.longest <= offload::link_header(octets) + self.mtu;
                match fits {
                    true => whole.send_cut(&self.fd, octets, &cut),
                    false => Lost::frame(octets.len()),
                }
            }
            _ => self.send(octets),
        }
    }

    /// Makes the kernel send the accepted frames. Returns the frames lost.
    pub fn flush(&mut self) -> Lost {
        match &mut self.path {
            Path::Rings { outgoing, .. } => outgoing.flush(),
            Path::Whole(_) => Lost::NONE,
        }
    }

    /// Makes the kernel send the accepted frames, on another thread if there are enough of them. Returns the frames
    /// lost.
    pub fn flush_by(&mut self, senders: &Senders) -> Lost {
        match &mut self.path {
            Path::Rings { outgoing, .. } => outgoing.flush_by(senders),
            Path::Whole(_) => Lost::NONE,
        }
    }

    /// Whether accepted frames wait for a flush.
    pub fn waits(&self) -> bool {
        match &self.path {
            Path::Rings { outgoing, .. } => outgoing.waits(),
            Path::Whole(_) => false,
        }
    }

    /// Sets the interface's MTU after it has changed. Returns `false` if the rings, which have the same size, have no
    /// room for such packets.
    pub fn set_mtu(&mut self, mtu: usize) -> bool {
        self.mtu = mtu;
        match &self.path {
            Path::Rings { incoming, .. } => incoming.holds(mtu),
            Path::Whole(_) => true,
        }
    }

    /// Withdraws the frames that the kernel has not sent yet.
    pub fn withdraw(&mut self) -> Lost {
        match &mut self.path {
            Path::Rings { outgoing, .. } => outgoing.withdraw(),
            Path::Whole(_) => Lost::NONE,
        }
    }

    /// Frames that arrived while the ring was full, since the last call.
    pub fn take_overflow(&self) -> u64 {
        // SAFETY: the structure is plain numbers, for which zero is valid.
        let mut statistics: libc::tpacket_stats = unsafe { std::mem::zeroed() };
        let mut length = size_of::<libc::tpacket_stats>() as libc::socklen_t;
        // SAFETY: structure and length live through the call, and the structure has the given length. For TPACKET_V2
        // the kernel writes no more than this structure.
        let result = unsafe {
            libc::getsockopt(
                self.fd.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                (&raw mut statistics).cast(),
                &raw mut length,
            )
        };
        match check(result) {
            Ok(_) => statistics.tp_drops.into(),
            Err(_) => 0,
        }
    }

    /// Clears an error of the interface (it went down), so that polling waits again.
    pub fn clear_error(&self) {
        let _ = rustix::net::sockopt::socket_error(&self.fd);
    }

    /// A descriptor that is readable when a frame has arrived.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
