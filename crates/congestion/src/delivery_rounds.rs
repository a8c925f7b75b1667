//! Counts round trips by delivered segments, as in both versions of BBR.

use std::ops::Range;

use crate::event::RateSample;

/// The current round. It ends when a segment sent in it is delivered.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeliveryRounds {
    /// Total number of delivered segments.
    delivered: u64,
    /// The round ends with a segment that was sent when this many had been delivered.
    next: u64,
    count: u64,
    has_begun: bool,
    /// Samples are limited if their segment was sent when the number of delivered segments was in this range.
    held_back: Range<u64>,
}

impl DeliveryRounds {
    /// Total number of delivered segments.
    pub(crate) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// The number of rounds that have ended.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Whether the newest acknowledgement started a round.
    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Handles the sample of an acknowledgement. Without a sample (`None`), no round starts.
    pub(crate) fn update(&mut self, sample: Option<&RateSample>) {
        self.has_begun = sample.is_some_and(|sample| sample.prior_delivered >= self.next);
        if let Some(sample) = sample {
            self.delivered = sample.total_delivered;
        }
        if self.has_begun {
            self.count += 1;
            self.begin();
        }
    }

    /// Starts a round here, regardless of earlier packets.
    pub(crate) fn begin(&mut self) {
        self.next = self.delivered;
    }

    /// Marks everything that is sent until `in_flight` more segments are delivered as held back by the control.
    pub(crate) fn hold_back(&mut self, in_flight: u64) {
        if !self.held_back.contains(&self.delivered) {
            self.held_back.start = self.delivered;
        }
        self.held_back.end = self.delivered + in_flight.max(1);
    }

    /// Whether the segment of a sample was sent while the application or the control held the sender back.
    pub(crate) fn is_limited(&self, sample: &RateSample) -> bool {
        sample.app_limited || self.held_back.contains(&sample.prior_delivered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(prior_delivered: u64, total_delivered: u64) -> RateSample {
        RateSample {
            prior_delivered,
            total_delivered,
            ..RateSample::default()
        }
    }

    #[test]
    fn a_round_ends_when_a_segment_sent_in_it_is_delivered() {
        let mut rounds = DeliveryRounds::default();
        let begins = [(0, 4), (0, 5), (3, 7), (4, 8), (7, 9), (8, 12)].map(|(prior, total)| {
            rounds.update(Some(&sample(prior, total)));
            rounds.has_begun()
        });
        assert_eq!(begins, [true, false, false, true, false, true]);
        assert_eq!((rounds.count(), rounds.delivered()), (3, 12));
        rounds.update(None);
        assert!(!rounds.has_begun());
        assert_eq!(rounds.delivered(), 12);
    }

    /// 12 are delivered and 5 in flight: everything sent until 17 are delivered is limited.
    #[test]
    fn what_is_held_back_is_limited_until_the_flight_is_delivered() {
        let mut rounds = DeliveryRounds::default();
        rounds.update(Some(&sample(0, 12)));
        rounds.hold_back(5);
        let limited = [11, 12, 16, 17].map(|prior| rounds.is_limited(&sample(prior, 20)));
        assert_eq!(limited, [false, true, true, false]);
        let by_application = RateSample {
            app_limited: true,
            ..sample(11, 20)
        };
        assert!(rounds.is_limited(&by_application));
    }
}
