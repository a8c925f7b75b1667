//! Ranges that numbers in data must be in.

use crate::DataError;

/// Durations in seconds above this make nanoseconds overflow.
pub const MAX_SECONDS: f64 = 1e9;
/// Headers that every packet has: IPv4 and UDP, or IPv4 and TCP with room for options.
const MIN_PACKET: u32 = 40;
const MAX_PACKET: u32 = 65_535;

/// The first mistake, if there is one.
pub type Checked = Result<(), DataError>;

/// Seconds above 0.
pub fn positive(path: impl Into<String>, seconds: f64) -> Checked {
    if seconds > 0.0 {
        return not_negative(path, seconds);
    }
    fail(path, format!("{seconds} is not above 0"))
}

/// Seconds from 0 on.
pub fn not_negative(path: impl Into<String>, value: f64) -> Checked {
    if (0.0..=MAX_SECONDS).contains(&value) {
        return Ok(());
    }
    fail(path, format!("{value} is not within 0 to {MAX_SECONDS}"))
}

/// A number within `low` to `high`.
pub fn between(path: impl Into<String>, value: u32, low: u32, high: u32) -> Checked {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    fail(path, format!("{value} is not within {low} to {high}"))
}

/// The IPv4 total length of a packet.
pub fn packet(path: impl Into<String>, octets: u32) -> Checked {
    between(path, octets, MIN_PACKET, MAX_PACKET)
}

/// A mistake at `path`.
pub fn fail(path: impl Into<String>, message: impl Into<String>) -> Checked {
    Err(DataError::new(path, message))
}
