//! The socket of a send ring, of which one thread at a time has the kernel send.

use super::set;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU8, Ordering};

/// Octets that the kernel may have on their way through the interface.
const ON_THEIR_WAY: libc::c_int = 16 << 20;

/// Whose turn it is: that of the thread that owns the ring, or of one that it was lent to.
const OWN: u8 = 0;
const LENT: u8 = 1;
/// It is lent, and frames were added since the kernel was asked to send.
const LENT_WITH_MORE: u8 = 2;
/// It was given back because the kernel did not send all.
const GIVEN_UP: u8 = 3;

/// The result of asking the kernel to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// It sent some; there may be more.
    Some,
    /// There was nothing to send.
    Nothing,
    /// The interface takes no more for the moment.
    Later,
    /// The interface is down or gone.
    Down,
}

/// A socket whose ring one thread fills.
#[derive(Debug)]
pub struct SendSocket {
    fd: OwnedFd,
    turn: AtomicU8,
}

impl SendSocket {
    /// Opens one that is not bound yet.
    pub fn open() -> io::Result<Self> {
        let fd = super::open()?;
        let turn_on = |option| set(&fd, libc::SOL_PACKET, option, &1);
        // A frame that the kernel cannot send is skipped instead of stopping those behind it.
        turn_on(libc::PACKET_LOSS)?;
        // The switch has queues of its own.
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

    /// Has the kernel send what is in the ring.
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
            // With ENOBUFS the interface's queue has refused a frame, which the kernel leaves in the ring.
            Some(libc::EAGAIN | libc::EINTR | libc::ENOBUFS) => Sent::Later,
            _ => Sent::Down,
        }
    }

    /// Lends it to another thread, which calls [`serve`](Self::serve) once.
    pub fn lend(&self) {
        self.turn.store(LENT, Ordering::Release);
    }

    /// Takes it back from a thread that was not given it after all.
    pub fn keep(&self) {
        self.turn.store(OWN, Ordering::Release);
    }

    /// Whether another thread has it.
    pub fn is_lent(&self) -> bool {
        matches!(self.turn.load(Ordering::Acquire), LENT | LENT_WITH_MORE)
    }

    /// Says that there are more frames to the thread that has it; `false` if none has.
    pub fn announce_more(&self) -> bool {
        let announced =
            self.turn
                .compare_exchange(LENT, LENT_WITH_MORE, Ordering::AcqRel, Ordering::Acquire);
        matches!(announced, Ok(_) | Err(LENT_WITH_MORE))
    }

    /// Whether it was given back because the kernel did not send all. Resets this.
    pub fn take_given_up(&self) -> bool {
        let given_up = self.turn.load(Ordering::Acquire) == GIVEN_UP;
        if given_up {
            self.keep();
        }
        given_up
    }

    /// Has the kernel send until the ring is empty, on the thread that it was lent to, and gives it back; whether all was
    /// sent.
    pub fn serve(&self) -> bool {
        loop {
            // Reads as well: the kernel sees from here on which frames were announced.
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
