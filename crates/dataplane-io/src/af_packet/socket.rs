//! A packet socket on one interface.

use super::offloads::Offloads;
use super::ring::{Frame, Rings};
use super::whole::Whole;
use super::{Lost, check, set};
use crate::offload;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// Sends and receives whole frames on an interface, which is promiscuous as long as this lives.
#[derive(Debug)]
pub struct PacketSocket {
    path: Path,
    fd: OwnedFd,
    /// The largest packet that the interface sends. The kernel skips longer ones without a word.
    mtu: usize,
}

/// How frames get from the kernel and to it.
#[derive(Debug)]
enum Path {
    Rings(Rings),
    Whole(Whole),
}

/// What every frame has at least: two addresses and an EtherType.
const HEADER: usize = 14;
/// Octets of an 802.1Q tag, which come on top of the MTU, and the EtherType that says that there is one.
const TAG: usize = 4;
const TAGGED: [u8; 2] = [0x81, 0x00];

impl PacketSocket {
    /// Opens a socket on the interface with this number, for packets of up to `mtu` octets.
    pub fn open(index: u32, mtu: usize, offloads: Offloads) -> io::Result<Self> {
        // Protocol 0: nothing is received before the socket is bound, when all is set up.
        // SAFETY: no pointers; a new descriptor is owned by nobody else.
        let fd = unsafe {
            let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
            OwnedFd::from_raw_fd(check(libc::socket(libc::AF_PACKET, kind, 0))?)
        };
        // What the switch sends, and what the host itself sends here, has not come in.
        set(&fd, libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &1)?;
        let path = match offloads {
            Offloads::Off => Path::Rings(rings(&fd, mtu)?),
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
        bind(&fd, index)?;
        Ok(PacketSocket { path, fd, mtu })
    }

    /// Hands the next frame to `each`; `false` if there is none.
    pub fn receive(&mut self, each: impl FnOnce(Frame<'_>)) -> bool {
        match &mut self.path {
            Path::Rings(rings) => rings.receive(each),
            Path::Whole(whole) => whole.receive(&self.fd, each),
        }
    }

    /// Takes a frame for sending. What was lost: this frame, if there is no room for it or it is no frame, and
    /// others that were taken before.
    pub fn send(&mut self, octets: &[u8]) -> Lost {
        let tag = match octets.get(12..HEADER) {
            Some(kind) if kind == TAGGED => TAG,
            Some(_) => 0,
            None => return Lost::frame(octets.len()),
        };
        if octets.len() > HEADER + tag + self.mtu {
            return Lost::frame(octets.len());
        }
        let rings = match &mut self.path {
            Path::Rings(rings) => rings,
            Path::Whole(whole) => return whole.send(&self.fd, octets),
        };
        if rings.send(octets) {
            return Lost::NONE;
        }
        let mut lost = notify(rings, &self.fd);
        if !rings.send(octets) {
            lost += Lost::frame(octets.len());
        }
        lost
    }

    /// Sends a frame that is to be cut into segments of the given octets of data. What was lost. A frame that
    /// cannot be cut, such as the start of a packet, leaves as it is.
    pub fn send_cut(&mut self, octets: &mut [u8], segment: u16) -> Lost {
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

    /// Has the kernel send what was taken. What was lost instead.
    pub fn flush(&mut self) -> Lost {
        match &mut self.path {
            Path::Rings(rings) => notify(rings, &self.fd),
            Path::Whole(_) => Lost::NONE,
        }
    }

    /// The interface's MTU has changed.
    pub fn set_mtu(&mut self, mtu: usize) {
        self.mtu = mtu;
    }

    /// Takes back the frames that the kernel has not sent yet.
    pub fn withdraw(&mut self) -> Lost {
        match &mut self.path {
            Path::Rings(rings) => rings.withdraw(),
            Path::Whole(_) => Lost::NONE,
        }
    }

    /// Frames that came in while the ring was full, since this was asked last.
    pub fn take_overflow(&self) -> u64 {
        // SAFETY: the structure is plain numbers, for which zero is valid.
        let mut statistics: libc::tpacket_stats = unsafe { std::mem::zeroed() };
        let mut length = size_of::<libc::tpacket_stats>() as libc::socklen_t;
        // SAFETY: structure and length live through the call, and the structure is as long as is said; for
        // TPACKET_V2 the kernel writes no more than this one.
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

    /// Takes back an error of the interface (it went down), so that polling waits again.
    pub fn clear_error(&self) {
        let _ = rustix::net::sockopt::socket_error(&self.fd);
    }

    /// Readable when a frame has come.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Gives a socket rings for packets of up to `mtu` octets.
fn rings(fd: &OwnedFd, mtu: usize) -> io::Result<Rings> {
    let set = |option, value: &libc::tpacket_req| set(fd, libc::SOL_PACKET, option, value);
    let turn_on = |option| super::set(fd, libc::SOL_PACKET, option, &1);
    let version = libc::tpacket_versions::TPACKET_V2 as libc::c_int;
    super::set(fd, libc::SOL_PACKET, libc::PACKET_VERSION, &version)?;
    // A frame that the kernel cannot send is skipped instead of stopping those behind it.
    turn_on(libc::PACKET_LOSS)?;
    // The switch has queues of its own.
    turn_on(libc::PACKET_QDISC_BYPASS)?;
    let request = Rings::request(mtu);
    set(libc::PACKET_RX_RING, &request)?;
    set(libc::PACKET_TX_RING, &request)?;
    Rings::map(fd.as_fd(), &request)
}

/// Has the kernel send what is in the ring. What was lost instead.
fn notify(rings: &mut Rings, fd: &OwnedFd) -> Lost {
    if !rings.take_unsent() {
        return Lost::NONE;
    }
    let (fd, flags) = (fd.as_raw_fd(), libc::MSG_DONTWAIT);
    // SAFETY: no octets are passed; the kernel takes them from the ring.
    let sent = unsafe { libc::send(fd, std::ptr::null(), 0, flags) };
    if sent >= 0 {
        return Lost::NONE;
    }
    match io::Error::last_os_error().raw_os_error() {
        Some(libc::EAGAIN | libc::EINTR) => {
            rings.set_unsent();
            Lost::NONE
        }
        // The interface's queue refused a frame, which is gone; those behind it wait still.
        Some(libc::ENOBUFS) => {
            rings.set_unsent();
            rings.last_done()
        }
        // The interface is down or gone. What was meant to leave now must not leave later.
        _ => rings.withdraw(),
    }
}

fn bind(fd: &OwnedFd, index: u32) -> io::Result<()> {
    // SAFETY: the structure is plain numbers, for which zero is valid.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
    address.sll_ifindex = index as i32;
    let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: the address lives through the call and is as long as is said.
    let result = unsafe { libc::bind(fd.as_raw_fd(), (&raw const address).cast(), length) };
    check(result).map(|_| ())
}
