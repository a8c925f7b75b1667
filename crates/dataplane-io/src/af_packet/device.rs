//! Queries the kernel about an interface (netdevice(7)) in the caller's network namespace.

use super::check;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// The current state of an interface.
#[derive(Clone, Copy, Debug)]
pub struct Device {
    /// Its number.
    pub index: u32,
    /// The kind of its frames: an `ARPHRD_` constant.
    pub kind: u16,
    /// The largest packet, in octets.
    pub mtu: usize,
    /// Whether it is up.
    pub up: bool,
    /// Whether it has a carrier, as far as its driver can detect.
    pub running: bool,
}

impl Device {
    /// The interface of this name.
    pub fn find(name: &str) -> io::Result<Device> {
        let socket = socket()?;
        let ask = |command| {
            let mut request = request(name.as_bytes());
            // SAFETY: each command below writes its answer into the request itself.
            unsafe { ioctl(&socket, command, &mut request) }?;
            Ok::<_, io::Error>(request.ifr_ifru)
        };
        let index = ask(libc::SIOCGIFINDEX)?;
        let address = ask(libc::SIOCGIFHWADDR)?;
        let mtu = ask(libc::SIOCGIFMTU)?;
        let flags = ask(libc::SIOCGIFFLAGS)?;
        // SAFETY: each of these commands fills in the part of the union that is read of its answer.
        let (index, kind, mtu, flags) = unsafe {
            (
                index.ifru_ifindex,
                address.ifru_hwaddr.sa_family,
                mtu.ifru_mtu,
                flags.ifru_flags,
            )
        };
        Ok(Device {
            index: index as u32,
            kind,
            mtu: usize::try_from(mtu).unwrap_or(0),
            up: libc::c_int::from(flags) & libc::IFF_UP != 0,
            running: libc::c_int::from(flags) & libc::IFF_RUNNING != 0,
        })
    }
}

/// A socket for requests.
pub fn socket() -> io::Result<OwnedFd> {
    // SAFETY: no pointers are passed; the new descriptor has no other owner.
    unsafe {
        let kind = libc::SOCK_DGRAM | libc::SOCK_CLOEXEC;
        let fd = check(libc::socket(libc::AF_INET, kind, 0))?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// A request about the interface of this name. All other fields are zero.
pub fn request(name: &[u8]) -> libc::ifreq {
    // SAFETY: the structure is plain numbers and pointers, for which zero is valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    let room = request.ifr_name.len() - 1;
    for (to, from) in request.ifr_name[..room].iter_mut().zip(name) {
        *to = *from as libc::c_char;
    }
    request
}

/// Sends a request to the kernel.
///
/// # Safety
/// The command must take an `ifreq`. A pointer in the request that the kernel follows must be valid for the reads and
/// writes of the command.
pub unsafe fn ioctl(
    socket: &OwnedFd,
    command: libc::c_ulong,
    request: &mut libc::ifreq,
) -> io::Result<()> {
    // SAFETY: the request lives through the call; the rest is up to the caller.
    check(unsafe {
        libc::ioctl(
            socket.as_raw_fd(),
            command as _,
            std::ptr::from_mut(request),
        )
    })?;
    Ok(())
}
