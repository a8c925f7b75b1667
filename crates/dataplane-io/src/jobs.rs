//! Jobs that other threads pass to the thread that owns the switch.

use engine::Switch;
use rustix::event::{EventfdFlags, eventfd};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use units::Instant;

/// A function that the thread runs between two packets. There is no switch before a program is loaded. A job may create
/// one or replace it.
pub type Job = Box<dyn FnOnce(&mut Option<Switch>, Instant) + Send>;

/// Submits jobs. They run in the order of submission.
#[derive(Clone, Debug)]
pub struct Handle {
    jobs: Sender<Job>,
    wake: Arc<OwnedFd>,
}

/// The receiving end, which a [`Dataplane`](crate::Dataplane) runs.
#[derive(Debug)]
pub struct Jobs {
    jobs: Receiver<Job>,
    wake: Arc<OwnedFd>,
}

/// Creates both ends. Jobs may be submitted before anything runs them.
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
    /// Submits a job and returns. If the thread has ended, the job is dropped.
    pub fn submit(&self, job: Job) {
        if self.jobs.send(job).is_ok() {
            self.wake();
        }
    }

    /// Wakes the thread.
    pub(crate) fn wake(&self) {
        // This fails only if the counter would overflow, and then the thread is awake.
        let _ = rustix::io::write(&*self.wake, &1_u64.to_ne_bytes());
    }
}

impl Jobs {
    /// The next job, if there is one.
    pub(crate) fn next(&mut self) -> Option<Job> {
        self.jobs.try_recv().ok()
    }

    /// A descriptor that is readable when there may be a job.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// Resets the wake-up signal. Must be called before checking for jobs.
    pub(crate) fn rest(&mut self) {
        let _ = rustix::io::read(&*self.wake, &mut [0_u8; 8]);
    }
}
