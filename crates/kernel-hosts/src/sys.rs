//! What neither libbpf-rs nor rustix wraps.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr::{self, NonNull};

use libbpf_rs::{AsRawLibbpf, Link, ProgramMut};

/// Attaches a program of type `tcx` to an interface. Dropping the link detaches it.
pub(crate) fn attach_tcx(program: &ProgramMut<'_>, index: u32) -> io::Result<Link> {
    let program = program.as_libbpf_object().as_ptr();
    // SAFETY: the program is loaded and outlives the call, which copies nothing from the absent options.
    let link = unsafe { libbpf_sys::bpf_program__attach_tcx(program, index as i32, ptr::null()) };
    let failed = io::Error::last_os_error();
    let link = NonNull::new(link).ok_or(failed)?;
    // SAFETY: libbpf has just made the link, and nothing else owns it.
    Ok(unsafe { Link::from_ptr(link) })
}

/// Attaches a program of type `xdp` to an interface, in its driver. It stays until the link is closed.
pub(crate) fn attach_xdp(program: &ProgramMut<'_>, index: u32) -> io::Result<OwnedFd> {
    let options = libbpf_sys::bpf_link_create_opts {
        sz: size_of::<libbpf_sys::bpf_link_create_opts>() as u64,
        flags: libbpf_sys::XDP_FLAGS_DRV_MODE,
        ..Default::default()
    };
    let program = program.as_fd().as_raw_fd();
    // SAFETY: the call takes numbers, and options that say how long they are.
    owned(unsafe {
        libbpf_sys::bpf_link_create(program, index as i32, libbpf_sys::BPF_XDP, &options)
    })
}

/// A file descriptor of a link that another process owns as well. The link lives until the last one is closed.
pub(crate) fn link_by_id(id: u32) -> io::Result<OwnedFd> {
    // SAFETY: the call takes a number and returns a new descriptor or an error.
    owned(unsafe { libbpf_sys::bpf_link_get_fd_by_id(id) })
}

/// The same of a map.
pub(crate) fn map_by_id(id: u32) -> io::Result<OwnedFd> {
    // SAFETY: the call takes a number and returns a new descriptor or an error.
    owned(unsafe { libbpf_sys::bpf_map_get_fd_by_id(id) })
}

fn owned(descriptor: RawFd) -> io::Result<OwnedFd> {
    if descriptor < 0 {
        return Err(io::Error::from_raw_os_error(-descriptor));
    }
    // SAFETY: the descriptor is new, so nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// The type of an interface's hardware, `ARPHRD_*`.
pub(crate) fn hardware(name: &str) -> io::Result<u16> {
    // SAFETY: an all-zero request is valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name[..libc::IFNAMSIZ - 1]
        .iter_mut()
        .zip(name.bytes())
    {
        *to = from as libc::c_char;
    }
    let socket = std::net::UdpSocket::bind("127.0.0.1:0")
        .or_else(|_| std::net::UdpSocket::bind("0.0.0.0:0"))?;
    let descriptor = std::os::fd::AsRawFd::as_raw_fd(&socket);
    // SAFETY: the kernel reads the name and writes the address within the request.
    if unsafe { libc::ioctl(descriptor, libc::SIOCGIFHWADDR, &mut request) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: SIOCGIFHWADDR sets this member.
    Ok(unsafe { request.ifr_ifru.ifru_hwaddr.sa_family })
}
