//! Threads that make the kernel send the frames in the rings of ports.
//!
//! ```text
//! forwarding thread ─ frames ─▶ send ring ─▶ kernel
//!                   ─ socket ─▶ sender ─ send(2) ─┘
//! ```
//! Sending takes most of a frame's time, inside the kernel. An idle sender borrows the socket of a port and makes
//! system calls until the ring is empty. No frame is copied or queued for that. The forwarding thread never blocks and
//! fills the ring in the meantime. One thread at a time holds a socket, and the ring preserves the order of its frames.

use crate::af_packet::SendSocket;
use crate::jobs::Handle;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// Zero or more threads. They end when this value is dropped.
#[derive(Debug, Default)]
pub struct Senders(Vec<Sender>);

#[derive(Debug)]
struct Sender {
    /// `None` while it ends.
    sockets: Option<SyncSender<Arc<SendSocket>>>,
    idle: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Senders {
    /// Starts threads. They wake the forwarding thread when an interface does not accept frames.
    pub fn start(count: usize, forwarding: &Handle) -> io::Result<Self> {
        let start = |_| {
            // A thread holds at most one socket, so that there is always room.
            let (sockets, lent) = sync_channel(1);
            let idle = Arc::new(AtomicBool::new(true));
            let (flag, forwarding) = (idle.clone(), forwarding.clone());
            let builder = std::thread::Builder::new().name("sender".into());
            let thread = builder.spawn(move || serve(&lent, &flag, &forwarding))?;
            Ok(Sender {
                sockets: Some(sockets),
                idle,
                thread: Some(thread),
            })
        };
        (0..count)
            .map(start)
            .collect::<io::Result<_>>()
            .map(Senders)
    }

    /// Whether there is no thread.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Lends a socket to an idle thread. Returns `false` if none is idle.
    pub fn send(&self, socket: &Arc<SendSocket>) -> bool {
        self.0.iter().any(|sender| sender.send(socket))
    }
}

impl Sender {
    fn send(&self, socket: &Arc<SendSocket>) -> bool {
        let Some(sockets) = &self.sockets else {
            return false;
        };
        if !self.idle.load(Ordering::Acquire) {
            return false;
        }
        self.idle.store(false, Ordering::Relaxed);
        socket.lend();
        let sent = sockets.try_send(socket.clone()).is_ok();
        if !sent {
            socket.keep();
        }
        sent
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.sockets = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(lent: &Receiver<Arc<SendSocket>>, idle: &AtomicBool, forwarding: &Handle) {
    while let Ok(socket) = lent.recv() {
        let sent_all = socket.serve();
        drop(socket);
        idle.store(true, Ordering::Release);
        if !sent_all {
            forwarding.wake();
        }
    }
}
