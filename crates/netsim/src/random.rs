//! Random numbers: an independent stream for each user, derived from the scenario's seed.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The users of random numbers. Each has its own stream, so that adding a source or link does not change the numbers of
/// the others.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    /// Losses of a line.
    Loss = 1,
    /// Bursts of a source.
    Source = 2,
    /// Seeds of the switches.
    Switch = 3,
    /// Initial sequence numbers of connections.
    Sequence = 4,
    /// Secrets of SCTP associations.
    Association = 5,
    /// Gaps on a medium.
    Medium = 6,
}

/// A stream of random numbers.
#[derive(Debug)]
pub(crate) struct Random(ChaCha8Rng);

impl Random {
    /// The stream of one user.
    pub fn new(seed: u64, purpose: Purpose, index: usize) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream((purpose as u64) << 32 | index as u64);
        Random(rng)
    }

    /// A random 64-bit number.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in 0 … `bound` − 1.
    pub fn below(&mut self, bound: u32) -> u32 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u32
    }

    /// Uniform in (0, 1].
    pub fn unit(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) + 1) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Exponential.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(self.unit())
    }

    /// Pareto with the given mean: scale `(shape − 1)/shape · mean`.
    pub fn pareto(&mut self, mean: f64, shape: f64) -> f64 {
        let scale = mean * (shape - 1.0) / shape;
        scale / libm::pow(self.unit(), 1.0 / shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(draws: impl Iterator<Item = f64>) -> f64 {
        let values: Vec<f64> = draws.collect();
        values.iter().sum::<f64>() / values.len() as f64
    }

    #[test]
    fn draws_below_a_bound_are_even() {
        let mut random = Random::new(1, Purpose::Medium, 0);
        let mut counts = [0; 5];
        (0..50_000).for_each(|_| counts[random.below(5) as usize] += 1);
        // Binomial: 10 000 ± 4·89.
        assert!(
            counts.iter().all(|count| (9643..=10_357).contains(count)),
            "{counts:?}"
        );
    }

    #[test]
    fn distributions_have_the_mean_asked_for() {
        let mut random = Random::new(1, Purpose::Source, 0);
        let exponential = mean((0..200_000).map(|_| random.exponential(3.0)));
        assert!((exponential - 3.0).abs() < 0.03, "{exponential}");
        // Shape 2.5 has a finite variance; its mean settles within a few per cent.
        let pareto = mean((0..400_000).map(|_| random.pareto(3.0, 2.5)));
        assert!((pareto - 3.0).abs() < 0.05, "{pareto}");
    }

    #[test]
    fn pareto_never_falls_below_its_scale() {
        let mut random = Random::new(2, Purpose::Source, 0);
        assert!((0..10_000).all(|_| random.pareto(3.0, 1.5) >= 1.0 - 1e-12));
    }

    #[test]
    fn streams_differ_and_repeat() {
        let draw = |purpose, index| Random::new(7, purpose, index).bits();
        assert_eq!(draw(Purpose::Loss, 0), draw(Purpose::Loss, 0));
        assert_ne!(draw(Purpose::Loss, 0), draw(Purpose::Loss, 1));
        assert_ne!(draw(Purpose::Loss, 0), draw(Purpose::Source, 0));
    }
}
