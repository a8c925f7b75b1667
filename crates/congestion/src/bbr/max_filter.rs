//! The largest value of the last rounds.

/// `BtlBwFilterLen`: round trips that a maximum is remembered.
const ROUNDS: u64 = 10;

/// A maximum over the last ten rounds, each by its own. Rounds that bring no value forget none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MaxFilter {
    rounds: [f64; ROUNDS as usize],
    /// The round of the newest value.
    newest: u64,
}

impl MaxFilter {
    /// A value of round number `round`, which is no earlier than those before it.
    pub(super) fn add(&mut self, round: u64, value: f64) {
        let skipped = (round - self.newest).min(ROUNDS);
        for gone in round + 1 - skipped..=round {
            *self.slot(gone) = 0.0;
        }
        self.newest = round;
        let slot = self.slot(round);
        *slot = slot.max(value);
    }

    /// The largest; 0 without any.
    pub(super) fn max(&self) -> f64 {
        self.rounds.iter().copied().fold(0.0, f64::max)
    }

    fn slot(&mut self, round: u64) -> &mut f64 {
        &mut self.rounds[(round % ROUNDS) as usize]
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
            filter.add(round, 1.0);
            assert_eq!(filter.max(), 9.0);
        }
        filter.add(10, 1.0);
        assert_eq!(filter.max(), 1.0);
    }

    #[test]
    fn only_a_newer_value_takes_its_place() {
        let mut filter = MaxFilter::default();
        filter.add(3, 9.0);
        filter.add(12, 2.0);
        assert_eq!(filter.max(), 9.0);
        filter.add(100, 1.0);
        assert_eq!(filter.max(), 1.0);
    }
}
