//! One direction of a wire: a queue in front of a rate, a delay, a loss.
//!
//! It shares no code with netsim's drop-tail queue, whose documentation says why.

use std::collections::VecDeque;

use engine::Octets;
use rand::{Rng, RngExt};
use units::{Duration, Instant, Rate};

/// Octets of a frame that no rate charges, as in virtual time: its Ethernet header.
const UNCHARGED: usize = 14;

/// What a wire does to the frames of one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineConfig {
    /// What it carries; unset: all that comes, at once.
    pub rate: Option<Rate>,
    /// Frames that may be here before the delay begins, the one in service counted (ns-2's limit);
    /// with a rate only. Unset: the sender keeps to the rate, and no frame waits; each takes its
    /// serialisation time.
    pub queue: Option<u32>,
    /// How long a frame is on its way once it is served.
    pub delay: Duration,
    /// The probability that a frame that was served is lost.
    pub loss: f64,
}

/// How many frames met what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineCounts {
    /// Those that were carried over.
    pub carried: u64,
    /// Those that found the queue full.
    pub refused: u64,
    /// Those that were lost on the way.
    pub lost: u64,
}

/// The frames that are on their way.
#[derive(Debug)]
pub struct Line {
    config: LineConfig,
    held: VecDeque<Held>,
    /// When the last frame taken will have been served.
    free_at: Instant,
    counts: LineCounts,
}

#[derive(Debug)]
struct Held {
    served: Instant,
    /// Nothing of a frame that is lost on the way; it has its place in the queue all the same.
    octets: Option<Octets>,
}

impl Line {
    /// A line with nothing on it.
    pub fn new(config: LineConfig) -> Self {
        Line {
            config,
            held: VecDeque::new(),
            free_at: Instant::ZERO,
            counts: LineCounts::default(),
        }
    }

    /// Takes a frame, unless it is lost or the queue is full.
    pub fn take(&mut self, now: Instant, octets: Octets, random: &mut impl Rng) {
        let charged = octets.len().saturating_sub(UNCHARGED) as u64;
        let served = match (self.config.rate, self.config.queue) {
            (None, _) => now,
            (Some(rate), None) => now + rate.serialisation(charged),
            (Some(_), Some(queue)) if self.waiting(now) >= queue as usize => {
                self.counts.refused += 1;
                return;
            }
            (Some(rate), Some(_)) => self.free_at.max(now) + rate.serialisation(charged),
        };
        self.free_at = served;
        let lost = self.config.loss > 0.0 && random.random_bool(self.config.loss);
        self.held.push_back(Held {
            served,
            octets: (!lost).then_some(octets),
        });
    }

    /// The next frame that has arrived at the far end.
    pub fn arrived(&mut self, now: Instant) -> Option<Octets> {
        while self.due().is_some_and(|due| due <= now) {
            match self.held.pop_front()?.octets {
                None => self.counts.lost += 1,
                octets => {
                    self.counts.carried += 1;
                    return octets;
                }
            }
        }
        None
    }

    /// When the next frame arrives, or would if it were not lost.
    pub fn due(&self) -> Option<Instant> {
        self.held
            .front()
            .map(|held| held.served + self.config.delay)
    }

    /// What was met so far.
    pub fn counts(&self) -> LineCounts {
        self.counts
    }

    /// Frames that are not served yet.
    fn waiting(&self, now: Instant) -> usize {
        self.held.len() - self.held.partition_point(|held| held.served <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn frame(octets: usize) -> Octets {
        vec![0; octets + UNCHARGED].into()
    }

    fn random() -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(1)
    }

    fn line(rate: Option<u64>, queue: Option<u32>, delay_ms: u64, loss: f64) -> Line {
        Line::new(LineConfig {
            rate: rate.and_then(Rate::from_bps),
            queue,
            delay: Duration::from_millis(delay_ms),
            loss,
        })
    }

    fn at_ms(ms: u64) -> Instant {
        Instant::from_micros(ms * 1000)
    }

    #[test]
    fn a_frame_is_late_by_its_serialisation_and_the_delay() {
        let mut line = line(Some(1_000_000), Some(10), 20, 0.0);
        line.take(Instant::ZERO, frame(1000), &mut random());
        line.take(Instant::ZERO, frame(1000), &mut random());
        assert_eq!(line.due(), Some(at_ms(28)));
        assert_eq!(line.arrived(at_ms(27)), None);
        assert!(line.arrived(at_ms(28)).is_some());
        assert_eq!(line.due(), Some(at_ms(36)));
    }

    #[test]
    fn what_comes_at_the_line_s_rate_takes_its_time_and_never_waits() {
        let mut line = line(Some(1_000_000), None, 20, 0.0);
        line.take(at_ms(100), frame(1000), &mut random());
        // It came 1 ms too early for the line; the next one is not late for that.
        line.take(at_ms(107), frame(1000), &mut random());
        line.take(at_ms(116), frame(1000), &mut random());
        for due in [128, 135, 144] {
            assert_eq!(line.due(), Some(at_ms(due)));
            assert!(line.arrived(at_ms(due)).is_some());
        }
    }

    #[test]
    fn a_full_queue_refuses_and_what_propagates_is_not_in_it() {
        let mut line = line(Some(1_000_000), Some(2), 1000, 0.0);
        for _ in 0..3 {
            line.take(Instant::ZERO, frame(1000), &mut random());
        }
        assert_eq!(line.counts().refused, 1);
        line.take(at_ms(16), frame(1000), &mut random());
        assert_eq!(line.counts().refused, 1);
        let arrived = std::iter::from_fn(|| line.arrived(at_ms(5000))).count();
        assert_eq!(arrived, 3);
        assert_eq!(line.counts().carried, 3);
    }

    #[test]
    fn frames_are_lost_as_often_as_was_said() {
        let mut line = line(None, None, 0, 0.1);
        let mut random = random();
        for _ in 0..10_000 {
            line.take(Instant::ZERO, frame(100), &mut random);
        }
        while line.arrived(Instant::ZERO).is_some() {}
        let lost = line.counts().lost;
        assert!((900..1100).contains(&lost), "{lost} of 10000");
    }
}
