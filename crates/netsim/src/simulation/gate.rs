//! A barrier for threads.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// How often a thread polls the gate before it sleeps: some tens of microseconds, about the time that sleeping and
/// waking take.
const LOOKS: u32 = 1000;

/// A reusable barrier: opens when all threads have reached it.
pub(super) struct Gate {
    threads: usize,
    /// How often a thread polls before it sleeps. 0 if threads share cores.
    looks: u32,
    arrived: AtomicUsize,
    /// How often it has opened.
    opened: AtomicUsize,
    /// A thread has panicked: no thread waits any more.
    broken: AtomicBool,
    /// Number of threads that sleep until it opens.
    asleep: Mutex<usize>,
    wake: Condvar,
}

/// Releases all other threads if its thread panics.
pub(super) struct OpenOnPanic<'a>(&'a Gate);

impl Drop for OpenOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.broken.store(true, Ordering::Release);
            self.0.open();
        }
    }
}

impl Gate {
    /// Creates a gate for `threads` threads on `cores` cores.
    pub fn new(threads: usize, cores: usize) -> Self {
        Gate {
            threads,
            looks: if threads <= cores { LOOKS } else { 0 },
            arrived: AtomicUsize::new(0),
            opened: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
            asleep: Mutex::new(0),
            wake: Condvar::new(),
        }
    }

    pub fn open_on_panic(&self) -> OpenOnPanic<'_> {
        OpenOnPanic(self)
    }

    /// Waits until all threads have arrived. The last one calls `lead` before the gate opens. Returns whether the run
    /// continues.
    pub fn pass(&self, lead: impl FnOnce()) -> bool {
        let opened = self.opened.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            lead();
            self.arrived.store(0, Ordering::Release);
            self.open();
        } else {
            self.wait(opened);
        }
        !self.broken.load(Ordering::Acquire)
    }

    fn open(&self) {
        let asleep = self.asleep();
        self.opened.fetch_add(1, Ordering::Release);
        // A notification takes a system call even if no thread sleeps.
        if *asleep > 0 {
            self.wake.notify_all();
        }
    }

    /// Waits until the gate has opened more than `opened` times.
    fn wait(&self, opened: usize) {
        let is_shut = || self.opened.load(Ordering::Acquire) == opened;
        for _ in 0..self.looks {
            if !is_shut() {
                return;
            }
            std::hint::spin_loop();
        }
        let mut asleep = self.asleep();
        *asleep += 1;
        while is_shut() {
            let woken = self.wake.wait(asleep);
            asleep = woken.unwrap_or_else(PoisonError::into_inner);
        }
        *asleep -= 1;
    }

    fn asleep(&self) -> MutexGuard<'_, usize> {
        self.asleep.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn nobody_goes_on_before_all_are_there() {
        for cores in [1, 3] {
            let gate = Gate::new(3, cores);
            let (rounds, here) = (AtomicU32::new(0), AtomicU32::new(0));
            thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| {
                        for round in 1..=200 {
                            here.fetch_add(1, Ordering::SeqCst);
                            gate.pass(|| {
                                assert_eq!(here.swap(0, Ordering::SeqCst), 3);
                                rounds.fetch_add(1, Ordering::SeqCst);
                            });
                            assert_eq!(rounds.load(Ordering::SeqCst), round);
                            gate.pass(|| assert_eq!(here.load(Ordering::SeqCst), 0));
                        }
                    });
                }
            });
        }
    }
}
