//! Proportional rate reduction (RFC 6937): how much may be sent during recovery from a loss.

/// The state of a recovery, in segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prr {
    /// RecoverFS: segments in flight when the loss was detected.
    flight: u64,
    delivered: u64,
    sent: u64,
    /// sndcnt: what may still be sent in response to the newest acknowledgement.
    quota: u64,
}

impl Prr {
    /// Starts a recovery. Its first retransmission is sent regardless of the window.
    pub(super) fn new(flight: u64) -> Self {
        Prr {
            flight: flight.max(1),
            delivered: 0,
            sent: 0,
            quota: 1,
        }
    }

    /// Handles an acknowledgement that delivered `delivered` segments and leaves `pipe` in flight, with a window of
    /// `target`. `safe` allows more than packet conservation: the acknowledgement advanced and no more losses were
    /// detected.
    pub(super) fn on_ack(&mut self, delivered: u64, pipe: u64, target: u64, safe: bool) {
        self.delivered += delivered;
        self.quota = if pipe > target {
            (self.delivered * target)
                .div_ceil(self.flight)
                .saturating_sub(self.sent)
        } else {
            let conserve = self.delivered.saturating_sub(self.sent).max(delivered);
            (target - pipe).min(conserve + u64::from(safe))
        };
        if self.sent == 0 {
            self.quota = self.quota.max(1);
        }
    }

    /// Allows one segment because nothing is in flight: without it no acknowledgement would arrive.
    pub(super) fn allow_one(&mut self) {
        self.quota = self.quota.max(1);
    }

    /// Whether a segment may be sent.
    pub(super) fn allows(&self) -> bool {
        self.quota > 0
    }

    /// Records a sent segment.
    pub(super) fn on_sent(&mut self) {
        self.sent += 1;
        self.quota = self.quota.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments sent in response to each of `acks` acknowledgements of one segment.
    fn answers(flight: u64, target: u64, lost: u64, acks: usize) -> Vec<u64> {
        let mut prr = Prr::new(flight);
        let mut pipe = flight - lost;
        (0..acks)
            .map(|_| {
                pipe -= 1;
                prr.on_ack(1, pipe, target, false);
                let mut sent = 0;
                while prr.allows() {
                    prr.on_sent();
                    sent += 1;
                    pipe += 1;
                }
                sent
            })
            .collect()
    }

    #[test]
    fn a_halved_window_lets_every_other_acknowledgement_send() {
        // After the fast retransmit, 10 of 19 acknowledgements: RFC 6937, §4's figure for one loss.
        let sent = answers(20, 10, 1, 19);
        assert_eq!(sent[..6], [1, 0, 1, 0, 1, 0]);
        assert_eq!(sent.iter().sum::<u64>(), 10);
    }

    #[test]
    fn after_heavy_loss_what_arrives_is_replaced() {
        // Half of the window is lost: below the target from the start.
        let sent = answers(20, 10, 12, 8);
        assert_eq!(sent, [1; 8]);
    }
}
