//! The maximum value of the last rounds.

/// A maximum over the last `ROUNDS` rounds by number. Rounds without a value do not expire older values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MaxFilter<const ROUNDS: usize> {
    rounds: [f64; ROUNDS],
    /// The round of the newest value.
    newest: u64,
}

impl<const ROUNDS: usize> Default for MaxFilter<ROUNDS> {
    fn default() -> Self {
        MaxFilter {
            rounds: [0.0; ROUNDS],
            newest: 0,
        }
    }
}

impl<const ROUNDS: usize> MaxFilter<ROUNDS> {
    /// Adds a value of round number `round`, which must not decrease.
    pub(crate) fn add(&mut self, round: u64, value: f64) {
        let skipped = (round - self.newest).min(ROUNDS as u64);
        for gone in round + 1 - skipped..=round {
            *self.slot(gone) = 0.0;
        }
        self.newest = round;
        let slot = self.slot(round);
        *slot = slot.max(value);
    }

    /// The maximum, or 0 if there are no values.
    pub(crate) fn max(&self) -> f64 {
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
        let mut filter = MaxFilter::<10>::default();
        filter.add(0, 5.0);
        filter.add(0, 9.0);
        filter.add(0, 7.0);
        for round in 1..10 {
            filter.add(round, 1.0);
            assert_eq!(filter.max(), 9.0);
        }
        filter.add(10, 1.0);
        assert_eq!(filter.max(), 1.0);
    }

    #[test]
    fn only_a_newer_value_takes_its_place() {
        let mut filter = MaxFilter::<10>::default();
        filter.add(3, 9.0);
        filter.add(12, 2.0);
        assert_eq!(filter.max(), 9.0);
        filter.add(100, 1.0);
        assert_eq!(filter.max(), 1.0);
    }
}
