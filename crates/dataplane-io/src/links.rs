//! Link notifications: when to check which interfaces have a carrier (rtnetlink(7)).

use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType, bind, recv, socket_with};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// `RTMGRP_LINK`.
const LINKS: u32 = 1;

/// Receives a notification for every change of a link in this network namespace.
#[derive(Debug)]
pub struct Links(OwnedFd);

impl Links {
    /// Starts to listen.
    pub fn listen() -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        // The default protocol is NETLINK_ROUTE.
        let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None)?;
        bind(&socket, &SocketAddrNetlink::new(0, LINKS))?;
        Ok(Links(socket))
    }

    /// Whether something has changed since the last call.
    pub fn take_news(&self) -> bool {
        let mut any = false;
        loop {
            // The content of a message is ignored and the state is queried again, because messages
            // may have been lost.
            match recv(&self.0, &mut [0_u8; 64][..], RecvFlags::TRUNC) {
                Ok(_) | Err(Errno::NOBUFS | Errno::INTR) => any = true,
                Err(_) => return any,
            }
        }
    }

    /// A descriptor that is readable when there is a notification.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
