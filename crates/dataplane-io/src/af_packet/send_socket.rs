//! The socket of a send ring. Only one thread at a time makes the kernel send from it.

use super::set;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU8, Ordering};

/// Octets that the kernel may have in flight through the interface.
const ON_THEIR_WAY: libc::c_int = 16 << 20;

/// Whose turn it is to send: the thread that owns the ring, or one that has borrowed the socket.
const OWN: u8 = 0;
const LENT: u8 = 1;
/// The socket is lent, and frames were added since the kernel was last asked to send.
const LENT_WITH_MORE: u8 = 2;
/// The socket was returned because the kernel did not send everything.
const GIVEN_UP: u8 = 3;

/// The result of asking the kernel to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// It sent some frames. There may be more.
    Some,
    /// There was nothing to send.
    Nothing,
    /// The interface accepts no more frames at the moment.
    Later,
    /// The interface is down or no longer exists.
    Down,
}

/// The socket of a ring that one thread fills.
#[derive(Debug)]
pub struct SendSocket {
    fd: OwnedFd,
    turn: AtomicU8,
}

impl SendSocket {
    /// Opens a socket that is not bound yet.
    pub fn open() -> io::Result<Self> {
        let fd = super::open()?;
        let turn_on = |option| set(&fd, libc::SOL_PACKET, option, &1);
        // The kernel skips a frame that it cannot send, so that it does not block the frames behind it.
        turn_on(libc::PACKET_LOSS)?;
        // The switch has its own queues.
        turn_on(libc::PACKET_QDISC_BYPASS)?;
        turn_on(libc::PACKET_VNET_HDR)?;
        set(&fd, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &ON_THEIR_WAY)?;
        Ok(SendSocket {
            fd,
            turn: AtomicU8::new(OWN),
        })
    }

    /// The socket.
    pub fn fd(&self) -> &OwnedFd {
        &self.fd
    }

    /// Makes the kernel send the frames in the ring.
    pub fn send(&self) -> Sent {
        let (fd, flags) = (self.fd.as_raw_fd(), libc::MSG_DONTWAIT);
        // SAFETY: no octets are passed; the kernel takes them from the ring.
        let sent = unsafe { libc::send(fd, std::ptr::null(), 0, flags) };
        match sent {
            1.. => return Sent::Some,
            0 => return Sent::Nothing,
            _ => {}
        }
        match io::Error::last_os_error().raw_os_error() {
            // ENOBUFS means that the interface's queue has refused a frame, which the kernel leaves in the ring.
            Some(libc::EAGAIN | libc::EINTR | libc::ENOBUFS) => Sent::Later,
            _ => Sent::Down,
        }
    }

    /// Lends the socket to another thread, which must call [`serve`](Self::serve) once.
    pub fn lend(&self) {
        self.turn.store(LENT, Ordering::Release);
    }

    /// Takes the socket back from a thread that did not receive it after all.
    pub fn keep(&self) {
        self.turn.store(OWN, Ordering::Release);
    }

    /// Whether another thread holds the socket.
    pub fn is_lent(&self) -> bool {
        matches!(self.turn.load(Ordering::Acquire), LENT | LENT_WITH_MORE)
    }

    /// Notifies the thread that holds the socket of further frames. Returns `false` if no thread holds it.
    pub fn announce_more(&self) -> bool {
        let announced =
            self.turn
                .compare_exchange(LENT, LENT_WITH_MORE, Ordering::AcqRel, Ordering::Acquire);
        matches!(announced, Ok(_) | Err(LENT_WITH_MORE))
    }

    /// Whether the socket was returned because the kernel did not send everything. Resets this state.
    pub fn take_given_up(&self) -> bool {
        let given_up = self.turn.load(Ordering::Acquire) == GIVEN_UP;
        if given_up {
            self.keep();
        }
        given_up
    }

    /// Makes the kernel send until the ring is empty, on the thread that borrowed the socket, and returns the socket.
    /// Returns whether everything was sent.
    pub fn serve(&self) -> bool {
        loop {
            // A swap, because it must also read: from here on, the kernel sees the announced frames.
            self.turn.swap(LENT, Ordering::AcqRel);
            let sent = loop {
                match self.send() {
                    Sent::Some => {}
                    sent => break sent,
                }
            };
            if sent != Sent::Nothing {
                self.turn.store(GIVEN_UP, Ordering::Release);
                return false;
            }
            let turn = &self.turn;
            if turn
                .compare_exchange(LENT, OWN, Ordering::AcqRel, Ordering::Acquire)
                .is_ok()
            {
                return true;
            }
        }
    }
}
