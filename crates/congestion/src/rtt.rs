//! Round-trip times that no hole has stretched.

use crate::event::AckEvent;

/// The most segments that a delayed acknowledgement covers.
const DELAYED: u64 = 2;

/// Selects the round-trip times that are the path's.
///
/// A segment that arrived behind a hole is acknowledged when the hole is filled: the time to that is
/// loss recovery's, not the path's. So only segments sent after the newest loss was found count, and
/// only acknowledgements of no more than a delayed one's two segments: one of more fills a hole.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CleanRtt {
    /// Segments `0..sent` have left.
    sent: u64,
    /// Segments from here on left after the newest loss was found.
    clean_from: u64,
}

impl CleanRtt {
    pub(crate) fn on_sent(&mut self, segment: u64) {
        self.sent = self.sent.max(segment + 1);
    }

    /// A loss was found, by duplicates or by the timer.
    pub(crate) fn on_loss(&mut self) {
        self.clean_from = self.sent;
    }

    /// The round-trip time that an acknowledgement brings, in seconds.
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
