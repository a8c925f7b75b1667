//! Round-trip times that are not extended by holes.

use crate::event::AckEvent;

/// The maximum number of segments that a delayed acknowledgement covers.
const DELAYED: u64 = 2;

/// Selects the round-trip times that reflect the path.
///
/// A segment that arrived behind a hole is acknowledged when the hole is filled. That time is caused by loss recovery
/// rather than by the path. Therefore only segments sent after the detection of the newest loss count, and only
/// acknowledgements of at most two segments, as a delayed one has: an acknowledgement of more fills a hole.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CleanRtt {
    /// Segments `0..sent` have been sent.
    sent: u64,
    /// Segments from here on were sent after the detection of the newest loss.
    clean_from: u64,
}

impl CleanRtt {
    pub(crate) fn on_sent(&mut self, segment: u64) {
        self.sent = self.sent.max(segment + 1);
    }

    /// Records that a loss was detected, by duplicates or by the timer.
    pub(crate) fn on_loss(&mut self) {
        self.clean_from = self.sent;
    }

    /// The round-trip time of an acknowledgement, in seconds.
    pub(crate) fn sample(&self, ack: &AckEvent) -> Option<f64> {
        let clean = ack.acked > self.clean_from && ack.newly_acked <= DELAYED;
        ack.rtt_s().filter(|_| clean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Duration;

    #[test]
    fn what_was_sent_before_a_loss_is_no_sample() {
        let mut rtt = CleanRtt::default();
        let sample = |rtt: &CleanRtt, acked, newly_acked| {
            rtt.sample(&AckEvent {
                acked,
                newly_acked,
                rtt: Some(Duration::from_millis(100)),
                ..AckEvent::default()
            })
        };
        (0..10).for_each(|segment| rtt.on_sent(segment));
        assert_eq!(sample(&rtt, 4, 2), Some(0.1));
        rtt.on_loss();
        rtt.on_sent(4);
        rtt.on_sent(10);
        assert_eq!(sample(&rtt, 10, 1), None);
        assert_eq!(sample(&rtt, 11, 7), None);
        assert_eq!(sample(&rtt, 11, 1), Some(0.1));
    }
}
