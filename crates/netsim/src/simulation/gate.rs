//! Where threads wait for each other.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Looks at the gate before a thread sleeps: some tens of microseconds, about what it takes to sleep and to be woken.
const LOOKS: u32 = 1000;

/// Opens when all threads have come to it, again and again.
pub(super) struct Gate {
    threads: usize,
    /// How often a thread looks before it sleeps: not at all where threads share cores.
    looks: u32,
    arrived: AtomicUsize,
    /// How often it has opened.
    opened: AtomicUsize,
    /// A thread panicked: nobody waits any more.
    broken: AtomicBool,
    /// Threads that sleep until it opens.
    asleep: Mutex<usize>,
    wake: Condvar,
}

/// Lets all others through when its thread panics.
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
    /// A gate for so many threads, which have so many cores.
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

    /// Waits until all threads are here. The last calls `lead` before it opens. Returns whether the run continues.
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
        // To wake nobody takes a system call as well.
        if *asleep > 0 {
            self.wake.notify_all();
        }
    }

    /// Waits until it has opened more often than `opened`.
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
