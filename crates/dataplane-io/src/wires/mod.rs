//! Links in user space, for kernels that cannot delay: frames that arrive at one interface leave at another, later, or
//! not at all.

mod line;

pub use line::{Line, LineConfig, LineCounts};

use crate::af_packet::{Offloads, Restorer};
use crate::clock::Clock;
use crate::dataplane::until;
use crate::error::IoError;
use crate::interface::{Interface, Received};
use engine::Octets;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use std::num::NonZeroU64;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use units::Instant;

/// Frames taken from one interface before it is the next one's turn.
const BATCH: usize = 64;
/// The number of buffers kept for reuse.
const SPARE: usize = 1024;

/// Two interfaces that are joined.
#[derive(Clone, Debug)]
pub struct WireConfig {
    /// Their names.
    pub ends: [String; 2],
    /// The line for frames that arrive at each interface.
    pub lines: [LineConfig; 2],
}

/// Wires that are served by their own thread. When it is dropped, or the process is killed, the thread ends and the
/// interfaces are restored.
#[derive(Debug)]
pub struct Wires {
    stop: Arc<AtomicBool>,
    wake: Arc<OwnedFd>,
    thread: Option<JoinHandle<Vec<[LineCounts; 2]>>>,
}

impl Wires {
    /// Opens the interfaces and starts the thread. `seed` is the seed of the random losses.
    ///
    /// # Errors
    /// An interface does not exist, is given twice, or cannot be used.
    pub fn start(wires: &[WireConfig], seed: u64) -> Result<Self, IoError> {
        // Created before there are wires, and dropped after them.
        let mut restorer = Restorer::start(2 * wires.len())?;
        let mut taken: Vec<Wire> = Vec::new();
        for wire in wires {
            for (at, name) in wire.ends.iter().enumerate() {
                let known = taken.iter().flat_map(|w| &w.ends).map(Interface::name);
                if known
                    .chain(wire.ends[..at].iter().map(String::as_str))
                    .any(|k| k == name)
                {
                    let what = format!("interface `{name}`");
                    return Err(IoError::Twice { what });
                }
            }
            let [a, b] = &wire.ends;
            taken.push(Wire {
                ends: [
                    Interface::open(a, Offloads::Off, &mut restorer)?,
                    Interface::open(b, Offloads::Off, &mut restorer)?,
                ],
                lines: wire.lines.map(Line::new),
            });
        }
        let stop = Arc::new(AtomicBool::new(false));
        let flags = EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC;
        let wake = Arc::new(eventfd(0, flags).map_err(std::io::Error::from)?);
        let server = Server {
            wires: taken,
            random: ChaCha8Rng::seed_from_u64(seed),
            spare: Vec::new(),
            clock: Clock::start(),
            stop: stop.clone(),
            wake: wake.clone(),
            _restorer: restorer,
        };
        let builder = std::thread::Builder::new().name("wires".into());
        let thread = Some(builder.spawn(move || server.run())?);
        Ok(Wires { stop, wake, thread })
    }

    /// Whether the thread is running. It ends by itself only because of a bug.
    pub fn is_running(&self) -> bool {
        self.thread
            .as_ref()
            .is_some_and(|thread| !thread.is_finished())
    }

    /// Ends the thread. Returns the counters of each wire's lines, or `None` if the thread had ended because of a bug.
    pub fn stop(mut self) -> Option<Vec<[LineCounts; 2]>> {
        self.end()
    }

    fn end(&mut self) -> Option<Vec<[LineCounts; 2]>> {
        self.stop.store(true, Ordering::Release);
        // This fails only if the counter would overflow, and then the thread is awake.
        let _ = rustix::io::write(&*self.wake, &1_u64.to_ne_bytes());
        self.thread.take()?.join().ok()
    }
}

impl Drop for Wires {
    fn drop(&mut self) {
        self.end();
    }
}

#[derive(Debug)]
struct Wire {
    ends: [Interface; 2],
    lines: [Line; 2],
}

/// The state that the thread owns.
struct Server {
    wires: Vec<Wire>,
    random: ChaCha8Rng,
    spare: Vec<Octets>,
    clock: Clock,
    stop: Arc<AtomicBool>,
    wake: Arc<OwnedFd>,
    /// The last field, because interfaces are restored after their sockets are closed.
    _restorer: Restorer,
}

impl Server {
    fn run(mut self) -> Vec<[LineCounts; 2]> {
        // Timers of ordinary threads may be 50 µs late.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        while !self.stop.load(Ordering::Acquire) {
            let received = self.receive();
            self.deliver();
            if !received {
                self.wait();
            }
        }
        let counts = |wire: &Wire| wire.lines.each_ref().map(Line::counts);
        self.wires.iter().map(counts).collect()
    }

    /// Takes a batch of frames from each interface. Returns whether there were any.
    fn receive(&mut self) -> bool {
        let mut any = false;
        for wire in &mut self.wires {
            for (end, line) in wire.ends.iter_mut().zip(&mut wire.lines) {
                for _ in 0..BATCH {
                    let buffer = || self.spare.pop().unwrap_or_default();
                    let Some(received) = end.receive(buffer) else {
                        break;
                    };
                    any = true;
                    // A frame that was truncated, because it is longer than the MTU allows, is dropped.
                    if let Some(Received { octets, .. }) = received {
                        line.take(self.clock.now(), octets, &mut self.random);
                    }
                }
            }
        }
        any
    }

    /// Sends the frames that have arrived at the far end.
    fn deliver(&mut self) {
        let now = self.clock.now();
        for wire in &mut self.wires {
            let [a, b] = &mut wire.ends;
            for (line, far) in wire.lines.iter_mut().zip([b, a]) {
                while let Some(mut octets) = line.arrived(now) {
                    far.send(&octets);
                    if self.spare.len() < SPARE {
                        octets.clear();
                        self.spare.push(octets);
                    }
                }
                far.flush();
            }
        }
    }

    /// Waits for a received frame, for a frame to arrive at the far end, or for the end.
    fn wait(&mut self) {
        let lines = self.wires.iter().flat_map(|wire| &wire.lines);
        let due: Option<Instant> = lines.filter_map(Line::due).min();
        let timeout = due.map(|due| until(self.clock.now(), due));
        let ends = || self.wires.iter().flat_map(|wire| &wire.ends);
        let mut fds = vec![PollFd::from_borrowed_fd(self.wake.as_fd(), PollFlags::IN)];
        fds.extend(ends().map(|end| PollFd::from_borrowed_fd(end.fd(), PollFlags::IN)));
        if poll(&mut fds, timeout.as_ref()).is_err() {
            return;
        }
        for (end, fd) in ends().zip(&fds[1..]) {
            if fd.revents().contains(PollFlags::ERR) {
                end.clear_error();
            }
        }
    }
}
