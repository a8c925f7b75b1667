//! The fraction of segments for which congestion marks are echoed, smoothed (RFC 8257, §3.3).

use crate::event::AckEvent;

/// `α`, and the segments delivered since its last update.
#[derive(Clone, Debug)]
pub(crate) struct MarkedShare {
    /// The weight of the newest fraction.
    g: f64,
    /// The smoothed fraction of marked segments. Initially 1, the worst case.
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

    /// Counts the segments that an acknowledgement reports as arrived, and the marked ones among them.
    pub(crate) fn count(&mut self, ack: &AckEvent) {
        self.delivered += ack.newly_delivered;
        self.marked += ack.newly_marked;
    }

    /// Steps 1 to 8: `α = α·(1 − g) + g·M`, where `M` is the fraction of marked segments since the last update. No
    /// change if there were no segments.
    pub(crate) fn update(&mut self) {
        let delivered = std::mem::take(&mut self.delivered);
        let marked = std::mem::take(&mut self.marked);
        if delivered > 0 {
            let share = marked as f64 / delivered as f64;
            self.alpha = self.alpha * (1.0 - self.g) + self.g * share;
        }
    }

    /// The window after a mark: `1 − α/2` of it (step 9).
    pub(crate) fn cut(&self, cwnd: f64) -> f64 {
        cwnd * (1.0 - self.alpha / 2.0)
    }

    /// With the given `α`.
    #[cfg(test)]
    pub(crate) fn set_alpha(&mut self, alpha: f64) {
        self.alpha = alpha;
    }
}
