//! The quantiser that the hops of a CSIG domain have.

use crate::check::{Checked, between, positive};
use serde::{Deserialize, Serialize};
use transport::tcp::csig::Bands;
use units::Duration;

/// What bands represent; the same at every hop and host of a domain.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Csig {
    /// Delays below are in band 0, in microseconds.
    pub delay_unit_us: f64,
    /// The time over which hops measure available bandwidth, in microseconds.
    pub interval_us: u32,
}

impl Default for Csig {
    fn default() -> Self {
        let Bands {
            delay_unit,
            interval,
        } = Bands::default();
        Csig {
            delay_unit_us: delay_unit.as_secs_f64() * 1e6,
            interval_us: (interval.as_nanos() / 1000) as u32,
        }
    }
}

impl Csig {
    /// Checks ranges; `path` is its place.
    ///
    /// # Errors
    /// The first mistake, with its place and what is valid.
    pub(crate) fn check(&self, path: &str) -> Checked {
        positive(format!("{path}.delay_unit_us"), self.delay_unit_us)?;
        between(format!("{path}.interval_us"), self.interval_us, 1, u32::MAX)
    }

    pub(crate) fn bands(&self) -> Bands {
        Bands {
            delay_unit: Duration::from_secs_f64(self.delay_unit_us / 1e6),
            interval: Duration::from_micros(u64::from(self.interval_us)),
        }
    }
}
