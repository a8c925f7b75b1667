//! Quantities with units: points in time, spans of time, bit rates.
//!
//! Time is counted in whole nanoseconds, so that a run is the same on every machine; a rate is in
//! bits per second, and serialisation times are rounded to the nearest nanosecond.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

/// A point in time, in nanoseconds since the start of the run (or of the process).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

/// A span of time, in nanoseconds; never negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

/// A bit rate, in bits per second; never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Instant {
    /// The start of time.
    pub const ZERO: Instant = Instant(0);
    /// Later than anything that happens.
    pub const MAX: Instant = Instant(u64::MAX);

    /// From whole nanoseconds.
    pub const fn from_nanos(ns: u64) -> Self {
        Instant(ns)
    }

    /// From whole microseconds.
    pub const fn from_micros(us: u64) -> Self {
        Instant(us * 1_000)
    }

    /// From seconds, rounded to the nearest nanosecond; negative and NaN give zero.
    #[inline]
    pub fn from_secs_f64(s: f64) -> Self {
        Instant(nearest(s * 1e9))
    }

    /// Whole nanoseconds since the start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Whole microseconds since the start, rounded down: the unit of P4 timestamps.
    pub const fn as_micros(self) -> u64 {
        self.0 / 1_000
    }

    /// Seconds since the start.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The time since `earlier`; zero if that lies ahead.
    pub const fn since(self, earlier: Instant) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Duration {
    /// No time at all.
    pub const ZERO: Duration = Duration(0);
    /// Longer than any run.
    pub const MAX: Duration = Duration(u64::MAX);

    /// From whole nanoseconds.
    pub const fn from_nanos(ns: u64) -> Self {
        Duration(ns)
    }

    /// From whole microseconds.
    pub const fn from_micros(us: u64) -> Self {
        Duration(us * 1_000)
    }

    /// From whole milliseconds.
    pub const fn from_millis(ms: u64) -> Self {
        Duration(ms * 1_000_000)
    }

    /// From seconds, rounded to the nearest nanosecond; negative and NaN give zero.
    #[inline]
    pub fn from_secs_f64(s: f64) -> Self {
        Duration(nearest(s * 1e9))
    }

    /// Whole nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Whole microseconds, rounded down.
    pub const fn as_micros(self) -> u64 {
        self.0 / 1_000
    }

    /// Seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// `self − other`, or zero where that would be negative.
    pub const fn saturating_sub(self, other: Duration) -> Duration {
        Duration(self.0.saturating_sub(other.0))
    }

    /// This span `factor` times over, rounded to the nearest nanosecond.
    pub fn mul_f64(self, factor: f64) -> Duration {
        Duration(nearest(self.0 as f64 * factor))
    }
}

impl Rate {
    /// From bits per second; `None` for zero.
    pub const fn from_bps(bps: u64) -> Option<Self> {
        if bps == 0 { None } else { Some(Rate(bps)) }
    }

    /// Bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// The time that `octets` take on a link of this rate, to the nearest nanosecond.
    pub const fn serialisation(self, octets: u64) -> Duration {
        // Those of a packet fit into 64 bits.
        if let Some(bits_ns) = octets.checked_mul(8 * 1_000_000_000)
            && let Some(rounded) = bits_ns.checked_add(self.0 / 2)
        {
            return Duration(rounded / self.0);
        }
        let bits_ns = octets as u128 * 8 * 1_000_000_000;
        Duration(((bits_ns + self.0 as u128 / 2) / self.0 as u128) as u64)
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;
    fn add(self, d: Duration) -> Instant {
        Instant(self.0.saturating_add(d.0))
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, d: Duration) {
        *self = *self + d;
    }
}

impl Sub<Duration> for Instant {
    type Output = Instant;
    fn sub(self, d: Duration) -> Instant {
        Instant(self.0.saturating_sub(d.0))
    }
}

impl Add for Duration {
    type Output = Duration;
    fn add(self, d: Duration) -> Duration {
        Duration(self.0.saturating_add(d.0))
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, d: Duration) {
        *self = *self + d;
    }
}

impl Sub for Duration {
    type Output = Duration;
    fn sub(self, d: Duration) -> Duration {
        self.saturating_sub(d)
    }
}

impl SubAssign for Duration {
    fn sub_assign(&mut self, d: Duration) {
        *self = *self - d;
    }
}

impl Mul<u64> for Duration {
    type Output = Duration;
    fn mul(self, n: u64) -> Duration {
        Duration(self.0.saturating_mul(n))
    }
}

impl Div<u64> for Duration {
    type Output = Duration;
    fn div(self, n: u64) -> Duration {
        Duration(self.0 / n)
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}.{:09} s",
            self.0 / 1_000_000_000,
            self.0 % 1_000_000_000
        )
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ns if ns < 1_000 => write!(f, "{ns} ns"),
            ns if ns < 1_000_000 => write!(f, "{} us", ns as f64 / 1e3),
            ns if ns < 1_000_000_000 => write!(f, "{} ms", ns as f64 / 1e6),
            ns => write!(f, "{} s", ns as f64 / 1e9),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bps if bps % 1_000_000 == 0 => write!(f, "{} Mb/s", bps / 1_000_000),
            bps if bps % 1_000 == 0 => write!(f, "{} kb/s", bps / 1_000),
            bps => write!(f, "{bps} b/s"),
        }
    }
}

/// The nearest whole number, halves away from zero; negative numbers and NaN give zero.
//
// `f64::round` is a call of a function on processors without an instruction for it.
#[inline]
fn nearest(value: f64) -> u64 {
    // From here up to twice as much, a number has no bits behind the point, so that a sum is rounded to a whole number, halves to an
    // even one.
    const WHOLE: f64 = (1_u64 << 52) as f64;
    if (0.0..WHOLE / 2.0).contains(&value) {
        let sum = value + WHOLE;
        let up = value - (sum - WHOLE) >= 0.5;
        return (sum.to_bits() & (WHOLE as u64 - 1)) + u64::from(up);
    }
    // Conversions from and to signed numbers are one instruction each.
    if value < i64::MAX as f64 {
        let whole = value as i64;
        let up = value - whole as f64 >= 0.5;
        return (whole + i64::from(up)).max(0) as u64;
    }
    value as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_rounds_as_the_standard_library_does() {
        let below_half = 0.5_f64.next_down();
        let large = (1_u64 << 52) as f64;
        let mut values = vec![0.0, below_half, 0.5, 1.5, 2.5, -0.4, -0.5, -7.0, f64::NAN];
        values.extend([large / 2.0 - 0.5, (large / 2.0).next_down(), large / 2.0]);
        values.extend([large - 0.5, large + 0.5, large + 1.0, 2.0 * large + 2.0]);
        values.extend([9.3e18, 1.8e19, 1.9e19, f64::INFINITY, f64::MIN_POSITIVE]);
        values.extend((0..10_000).map(|i| f64::from(i) * 0.1));
        values.extend((0..10_000).map(|i| f64::from(i) * 1e6 / 3.0));
        for value in values {
            assert_eq!(nearest(value), value.round() as u64, "{value}");
        }
    }

    #[test]
    fn serialisation_rounds_to_the_nearest_nanosecond() {
        let rate = Rate::from_bps(1_600_000).unwrap();
        assert_eq!(rate.serialisation(1000), Duration::from_millis(5));
        assert_eq!(
            Rate::from_bps(3).unwrap().serialisation(1).as_nanos(),
            2_666_666_667
        );
    }

    #[test]
    fn subtraction_stops_at_zero() {
        assert_eq!(Instant::ZERO - Duration::from_nanos(1), Instant::ZERO);
        assert_eq!(Duration::ZERO - Duration::from_nanos(1), Duration::ZERO);
        assert_eq!(Instant::ZERO.since(Instant::MAX), Duration::ZERO);
    }
}
