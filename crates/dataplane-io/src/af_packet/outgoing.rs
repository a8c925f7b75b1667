//! Sends through a ring, on the thread that fills it or on another one.

use super::send_ring::SendRing;
use super::send_socket::{SendSocket, Sent};
use super::{Lost, bind};
use crate::senders::Senders;
use std::io;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

/// The number of frames for which another thread is woken.
const WORTH: usize = 8;
/// The number of frames that may wait for an idle sender before the forwarding thread sends them itself.
const PATIENCE: usize = 128;
/// Free frames that a full ring must have before more are added.
const ROOM: usize = 256;
/// Pause between two checks of a ring that another thread empties.
const PAUSE: Duration = Duration::from_micros(20);

/// A ring of frames to send, and the socket that tells the kernel to send them.
#[derive(Debug)]
pub struct Outgoing {
    ring: SendRing,
    socket: Arc<SendSocket>,
    /// Frames that were added to the ring since the kernel, or another thread, was last told to send.
    fresh: usize,
}

impl Outgoing {
    /// Opens a ring on the interface with this number, for packets of up to `mtu` octets.
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

    /// Accepts a frame for sending. Returns the frames lost: this one, if there is no room for it, and earlier ones.
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

    /// Makes the kernel send the accepted frames. Returns the frames lost.
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
            // Frames that were due now must not be sent later.
            Sent::Down => self.ring.withdraw(),
        }
    }

    /// Like [`Self::flush`], on an idle sender thread if there are enough frames. While no sender is idle, frames wait
    /// for a while; see [`waits`](Self::waits).
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

    /// Withdraws the frames that the kernel has not sent.
    pub fn withdraw(&mut self) -> Lost {
        // A thread that holds the socket returns it when the ring is empty, or when the interface refuses a frame.
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

    /// Notifies the thread that holds the socket of further frames. Returns `false` if no thread holds it.
    fn announce_more(&mut self) -> bool {
        let announced = self.socket.announce_more();
        if announced {
            self.fresh = 0;
        }
        announced
    }
}
