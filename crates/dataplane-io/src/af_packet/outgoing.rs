//! Sending through a ring, from the thread that fills it or from another one.

use super::send_ring::SendRing;
use super::send_socket::{SendSocket, Sent};
use super::{Lost, bind};
use crate::senders::Senders;
use std::io;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

/// Frames that are worth waking another thread for.
const WORTH: usize = 8;
/// Frames that wait until one of those threads is idle, before this one sends them itself.
const PATIENCE: usize = 128;
/// Room that a full ring is to have before more frames are put there.
const ROOM: usize = 256;
/// Between two looks at a ring that another thread empties.
const PAUSE: Duration = Duration::from_micros(20);

/// A ring of frames to send, and the socket by which the kernel is asked to send them.
#[derive(Debug)]
pub struct Outgoing {
    ring: SendRing,
    socket: Arc<SendSocket>,
    /// Frames that were put into the ring since the kernel, or another thread, was asked to send.
    fresh: usize,
}

impl Outgoing {
    /// Opens one on the interface with this number, for packets of up to `mtu` octets.
    pub fn open(index: u32, mtu: usize) -> io::Result<Self> {
        let socket = SendSocket::open()?;
        let ring = SendRing::of(socket.fd(), mtu)?;
        bind(socket.fd(), index, 0)?;
        Ok(Outgoing {
            ring,
            socket: Arc::new(socket),
            fresh: 0,
        })
    }

    /// Takes a frame. What was lost: this frame, if there is no room for it, and others that were taken before.
    pub fn send(&mut self, octets: &[u8]) -> Lost {
        if self.put(octets) {
            return Lost::NONE;
        }
        // The thread that empties the ring sets the pace.
        while self.announce_more() && !self.ring.has_room(ROOM) {
            sleep(PAUSE);
        }
        let mut lost = self.flush();
        if !self.put(octets) {
            lost += Lost::frame(octets.len());
        }
        lost
    }

    /// Has the kernel send what was taken. What was lost instead.
    pub fn flush(&mut self) -> Lost {
        let is_served = match self.fresh {
            0 => self.socket.is_lent() || !self.ring.waits(),
            _ => self.announce_more(),
        };
        if is_served {
            return Lost::NONE;
        }
        self.fresh = 0;
        match self.socket.send() {
            Sent::Some | Sent::Nothing | Sent::Later => Lost::NONE,
            // What was meant to leave now must not leave later.
            Sent::Down => self.ring.withdraw(),
        }
    }

    /// The same, by one of these threads if it is idle and the frames are worth it. While none is idle, frames wait for a
    /// while: [`waits`](Self::waits).
    pub fn flush_by(&mut self, senders: &Senders) -> Lost {
        if senders.is_empty() || self.fresh < WORTH || self.socket.take_given_up() {
            return self.flush();
        }
        if self.announce_more() {
            return Lost::NONE;
        }
        if senders.send(&self.socket) {
            self.fresh = 0;
            return Lost::NONE;
        }
        match self.fresh < PATIENCE {
            true => Lost::NONE,
            false => self.flush(),
        }
    }

    /// Whether there are frames that no thread is sending.
    pub fn waits(&self) -> bool {
        !self.socket.is_lent() && self.ring.waits()
    }

    /// Takes back the frames that the kernel has not sent.
    pub fn withdraw(&mut self) -> Lost {
        // A thread that has the socket gives it back when the ring is empty, or when the interface refuses a frame.
        while self.socket.is_lent() {
            sleep(PAUSE);
        }
        self.fresh = 0;
        self.ring.withdraw()
    }

    fn put(&mut self, octets: &[u8]) -> bool {
        let put = self.ring.put(octets);
        self.fresh += usize::from(put);
        put
    }

    /// Announces further frames to the thread that has the socket; `false` if none has it.
    fn announce_more(&mut self) -> bool {
        let announced = self.socket.announce_more();
        if announced {
            self.fresh = 0;
        }
        announced
    }
}
