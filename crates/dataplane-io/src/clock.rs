//! The wall clock in the engine's unit.

use units::{Duration, Instant};

/// Nanoseconds since the clock was started. Never decreases.
#[derive(Clone, Copy, Debug)]
pub struct Clock(std::time::Instant);

impl Clock {
    /// Starts the clock at zero.
    pub fn start() -> Self {
        Clock(std::time::Instant::now())
    }

    /// Starts a clock that returns zero until `wait` has passed, and counts from then on.
    pub fn start_in(wait: Duration) -> Self {
        let wait = std::time::Duration::from_nanos(wait.as_nanos());
        Clock(std::time::Instant::now() + wait)
    }

    /// The current time.
    pub fn now(self) -> Instant {
        Instant::from_nanos(self.0.elapsed().as_nanos() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_to_start_shows_zero_until_then() {
        let wait = Duration::from_millis(20);
        let (now, later) = (Clock::start(), Clock::start_in(wait));
        assert_eq!(later.now(), Instant::ZERO);
        while later.now() == Instant::ZERO {
            std::thread::yield_now();
        }
        assert!(now.now() >= Instant::ZERO + wait);
    }
}
