//! Work for the thread that owns the switch, handed over by others.

use engine::Switch;
use rustix::event::{EventfdFlags, eventfd};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use units::Instant;

/// What the thread runs between two packets. There is no switch before a program is loaded; a job may
/// put one there, or another in its place.
pub type Job = Box<dyn FnOnce(&mut Option<Switch>, Instant) + Send>;

/// Hands jobs over; they run in the order in which they come.
#[derive(Clone, Debug)]
pub struct Handle {
    jobs: Sender<Job>,
    wake: Arc<OwnedFd>,
}

/// The other end: what a [`Dataplane`](crate::Dataplane) runs.
#[derive(Debug)]
pub struct Jobs {
    jobs: Receiver<Job>,
    wake: Arc<OwnedFd>,
}

/// Both ends. Jobs may be handed over before anything runs them.
pub fn jobs() -> std::io::Result<(Handle, Jobs)> {
    let wake = Arc::new(eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?);
    let (sender, receiver) = channel();
    let handle = Handle {
        jobs: sender,
        wake: wake.clone(),
    };
    let jobs = Jobs {
        jobs: receiver,
        wake,
    };
    Ok((handle, jobs))
}

impl Handle {
    /// Hands a job over and returns. If the thread has ended, the job is dropped.
    pub fn submit(&self, job: Job) {
        if self.jobs.send(job).is_ok() {
            self.wake();
        }
    }

    /// Makes the thread look up.
    pub(crate) fn wake(&self) {
        // It can only fail when the count is at its end, and then the thread is awake.
        let _ = rustix::io::write(&*self.wake, &1_u64.to_ne_bytes());
    }
}

impl Jobs {
    /// The next job, if there is one.
    pub(crate) fn next(&mut self) -> Option<Job> {
        self.jobs.try_recv().ok()
    }

    /// Readable when there may be a job.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// Takes the signal back, before looking for jobs.
    pub(crate) fn rest(&mut self) {
        let _ = rustix::io::read(&*self.wake, &mut [0_u8; 8]);
    }
}
