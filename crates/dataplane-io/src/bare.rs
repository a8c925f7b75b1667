//! Forwarding without a switch, to measure the cost of the rings and the kernel alone.

use crate::af_packet::{Offloads, Restorer};
use crate::error::IoError;
use crate::interface::Interface;
use rustix::event::{PollFd, PollFlags, poll};

/// Frames taken from one interface before it is the other's turn.
const BATCH: usize = 64;

/// Two interfaces. Each sends what the other receives, through the same rings as the ports of a switch.
#[derive(Debug)]
pub struct Bare {
    interfaces: [Interface; 2],
    /// The last field, because interfaces are restored after their sockets are closed.
    _restorer: Restorer,
}

impl Bare {
    /// Opens the interfaces.
    ///
    /// # Errors
    /// An interface cannot be used.
    pub fn open(first: &str, second: &str) -> Result<Self, IoError> {
        let mut restorer = Restorer::start(2)?;
        let mut open = |name| Interface::open(name, Offloads::Off, &mut restorer);
        Ok(Bare {
            interfaces: [open(first)?, open(second)?],
            _restorer: restorer,
        })
    }

    /// Forwards until the process ends.
    pub fn run(&mut self) -> ! {
        loop {
            let [first, second] = &mut self.interfaces;
            let forwarded = forward_batch(first, second) | forward_batch(second, first);
            if forwarded {
                continue;
            }
            let fd = |interface| PollFd::from_borrowed_fd(Interface::fd(interface), PollFlags::IN);
            let mut fds = self.interfaces.each_ref().map(fd);
            let _ = poll(&mut fds, None);
        }
    }
}

/// Forwards a batch. Returns whether there was a frame.
fn forward_batch(from: &mut Interface, to: &mut Interface) -> bool {
    let mut any = false;
    for _ in 0..BATCH {
        if !from.forward(to) {
            break;
        }
        any = true;
    }
    to.flush();
    any
}
