//! One direction of a wire: a queue, followed by a rate, a delay and a loss.
//!
//! It shares no code with the drop-tail queue of netsim. The documentation of that queue explains
//! why.

use std::collections::VecDeque;

use engine::Octets;
use rand::{Rng, RngExt};
use units::{Duration, Instant, Rate};

/// Octets of a frame that are not charged, as in virtual time: its Ethernet header.
const UNCHARGED: usize = 14;

/// The configuration of one direction of a wire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineConfig {
    /// The rate of the line. `None` means unlimited.
    pub rate: Option<Rate>,
    /// The most frames before the delay begins, including the one in service (ns-2's limit). Only
    /// used with a rate. If `None`, the sender keeps to the rate and no frame waits; each takes its
    /// serialisation delay.
    pub queue: Option<u32>,
    /// Propagation delay of a frame after its serialisation.
    pub delay: Duration,
    /// The probability that a frame is lost after its serialisation.
    pub loss: f64,
}

/// The counters of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineCounts {
    /// Frames that were delivered.
    pub carried: u64,
    /// Frames that found the queue full.
    pub refused: u64,
    /// Frames that were lost in flight.
    pub lost: u64,
}

/// The frames in flight on a line.
#[derive(Debug)]
pub struct Line {
    config: LineConfig,
    held: VecDeque<Held>,
    /// When the last accepted frame will have been serialised.
    free_at: Instant,
    counts: LineCounts,
}

#[derive(Debug)]
struct Held {
    served: Instant,
    /// `None` for a frame that is lost in flight. It takes its place in the queue nevertheless.
    octets: Option<Octets>,
}

impl Line {
    /// Creates an empty line.
    pub fn new(config: LineConfig) -> Self {
        Line {
            config,
            held: VecDeque::new(),
            free_at: Instant::ZERO,
            counts: LineCounts::default(),
        }
    }

    /// Accepts a frame, unless it is lost or the queue is full.
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

    /// Removes and returns the next frame that has arrived at the far end.
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

    /// When the next frame arrives, or would arrive if it were not lost.
    pub fn due(&self) -> Option<Instant> {
        self.held
            .front()
            .map(|held| held.served + self.config.delay)
    }

    /// The counters so far.
    pub fn counts(&self) -> LineCounts {
        self.counts
    }

    /// Frames that have not been serialised yet.
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
        // It came 1 ms too early for the line; the next frame is not delayed because of that.
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
