//! The share of segments that congestion marks are echoed for, smoothed (RFC 8257, §3.3).

use crate::event::AckEvent;

/// `α`, and what was delivered since it moved.
#[derive(Clone, Debug)]
pub(crate) struct MarkedShare {
    /// The weight of the newest share.
    g: f64,
    /// The share of marked segments, smoothed; at first the worst.
    alpha: f64,
    delivered: u64,
    marked: u64,
}

impl MarkedShare {
    pub(crate) fn new(g: f64) -> Self {
        MarkedShare {
            g,
            alpha: 1.0,
            delivered: 0,
            marked: 0,
        }
    }

    pub(crate) fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Counts what an acknowledgement says has arrived, and the marked segments among it.
    pub(crate) fn count(&mut self, ack: &AckEvent) {
        self.delivered += ack.newly_delivered;
        self.marked += ack.newly_marked;
    }

    /// Steps 1 to 8: `α = α·(1 − g) + g·M`, `M` the share of what was counted since the last time. Unchanged if that
    /// was nothing.
    pub(crate) fn update(&mut self) {
        let delivered = std::mem::take(&mut self.delivered);
        let marked = std::mem::take(&mut self.marked);
        if delivered > 0 {
            let share = marked as f64 / delivered as f64;
            self.alpha = self.alpha * (1.0 - self.g) + self.g * share;
        }
    }

    /// What a mark leaves of a window: `1 − α/2` of it (step 9).
    pub(crate) fn cut(&self, cwnd: f64) -> f64 {
        cwnd * (1.0 - self.alpha / 2.0)
    }

    /// With `α` at a value.
    #[cfg(test)]
    pub(crate) fn set_alpha(&mut self, alpha: f64) {
        self.alpha = alpha;
    }
}
