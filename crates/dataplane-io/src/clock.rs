//! The wall clock as the engine counts it.

use units::Instant;

/// Nanoseconds since the switch was started; never goes back.
#[derive(Clone, Copy, Debug)]
pub struct Clock(std::time::Instant);

impl Clock {
    /// Starts at zero.
    pub fn start() -> Self {
        Clock(std::time::Instant::now())
    }

    /// The time now.
    pub fn now(self) -> Instant {
        Instant::from_nanos(self.0.elapsed().as_nanos() as u64)
    }
}
