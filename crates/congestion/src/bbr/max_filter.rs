//! The largest value of the last rounds.

/// `BtlBwFilterLen`: round trips that a maximum is remembered.
const ROUNDS: usize = 10;

/// A maximum over the last ten rounds, each by its own.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MaxFilter {
    rounds: [f64; ROUNDS],
}

impl MaxFilter {
    /// Round number `round` begins: the one ten before it is forgotten.
    pub(super) fn begin(&mut self, round: u64) {
        *self.slot(round) = 0.0;
    }

    /// A value of round number `round`.
    pub(super) fn add(&mut self, round: u64, value: f64) {
        let slot = self.slot(round);
        *slot = slot.max(value);
    }

    /// The largest; 0 without any.
    pub(super) fn max(&self) -> f64 {
        self.rounds.iter().copied().fold(0.0, f64::max)
    }

    fn slot(&mut self, round: u64) -> &mut f64 {
        &mut self.rounds[(round % ROUNDS as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_maximum_lasts_ten_rounds() {
        let mut filter = MaxFilter::default();
        filter.add(0, 5.0);
        filter.add(0, 9.0);
        filter.add(0, 7.0);
        for round in 1..10 {
            filter.begin(round);
            filter.add(round, 1.0);
            assert_eq!(filter.max(), 9.0);
        }
        filter.begin(10);
        assert_eq!(filter.max(), 1.0);
    }
}
