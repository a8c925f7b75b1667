//! DCTCP (RFC 8257): reduces the window according to how many segments were marked, not whether one
//! was marked.
//!
//! `α` tracks the fraction of marked segments, per window; a mark reduces the window by `α/2`.
//! Growth, losses and timeouts are Reno's. It needs switches that mark at a short queue, and
//! feedback that identifies the marked segments (§3.2).

use crate::controller::{Controller, Factory, Limits};
use crate::event::{AckEvent, LossEvent, TimeoutEvent};
use crate::marked_share::MarkedShare;
use crate::registry::{Control, Need, Recovery};
use crate::reno::{Reno, RenoConfig};
use crate::round::Round;

/// Marks may reduce the window to one segment.
const MIN_WINDOW: f64 = 1.0;

pub(crate) static DCTCP: Control = Control {
    name: "dctcp",
    label: "DCTCP",
    summary: "reduces the window by the fraction of ECN-marked segments",
    source: "RFC 8257",
    recovery: Recovery::Sack,
    marks: &[],
    needs: &[Need::Ecn],
    settings: &[],
    factory: |_, _| Box::new(DctcpConfig::default()),
};

/// Settings of [`Dctcp`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DctcpConfig {
    /// `g`: the weight of the fraction in the newest window.
    pub g: f64,
}

impl Default for DctcpConfig {
    /// `g` = 1/16 (§4.2).
    fn default() -> Self {
        DctcpConfig { g: 1.0 / 16.0 }
    }
}

impl DctcpConfig {
    /// Creates a controller for a new connection.
    pub fn build(&self, limits: &Limits) -> Dctcp {
        Dctcp {
            reno: RenoConfig {}.build(limits),
            share: MarkedShare::new(self.g),
            window: Round::default(),
        }
    }
}

impl Factory for DctcpConfig {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        Box::new(self.build(limits))
    }
}

/// A window, and the fraction of its segments that are marked.
#[derive(Clone, Debug)]
pub struct Dctcp {
    reno: Reno,
    /// `DCTCP.Alpha`, and the segments delivered in the observation window (`DCTCP.BytesAcked`).
    share: MarkedShare,
    window: Round,
}

impl Dctcp {
    /// The current `α`.
    pub fn alpha(&self) -> f64 {
        self.share.alpha()
    }

    /// §3.3, steps 1 to 8, once per window.
    fn observe(&mut self, ack: &AckEvent) {
        self.share.count(ack);
        if self.window.ends(ack) {
            self.share.update();
        }
    }
}

impl Controller for Dctcp {
    fn cwnd(&self) -> f64 {
        self.reno.cwnd()
    }

    fn ssthresh(&self) -> f64 {
        self.reno.ssthresh()
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        self.observe(ack);
        self.reno.on_ack(ack);
    }

    fn on_partial_ack(&mut self, ack: &AckEvent) {
        self.observe(ack);
    }

    fn on_duplicate_ack(&mut self, ack: &AckEvent) {
        self.share.count(ack);
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        self.reno.halve(loss.window);
    }

    /// §3.3, step 9.
    fn on_congestion_mark(&mut self, _mark: &LossEvent) {
        self.reno.cut_to(self.share.cut(self.cwnd()), MIN_WINDOW);
    }

    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        self.reno.on_timeout(timeout);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Evidence;
    use crate::sawtooth::lose;
    use units::Instant;

    fn dctcp() -> Dctcp {
        DctcpConfig::default().build(&Limits {
            initial_window: 40.0,
            initial_ssthresh: 2.0,
            max_cwnd: None,
            ..Limits::default()
        })
    }

    /// A window of 40 segments, acknowledged in pairs.
    fn window(dctcp: &mut Dctcp, first: u64, marked: u64) {
        for pair in 0..20 {
            let acked = first + 2 * pair + 2;
            dctcp.on_ack(&AckEvent {
                acked,
                newly_acked: 2,
                next: acked + 40,
                newly_delivered: 2,
                newly_marked: if pair < marked / 2 { 2 } else { 0 },
                ..AckEvent::default()
            });
        }
    }

    fn mark(dctcp: &mut Dctcp) {
        dctcp.on_congestion_mark(&LossEvent {
            now: Instant::ZERO,
            evidence: Evidence::Mark,
            lost: 0,
            sent_at: None,
            transmissions: 0,
            duplicates: 0,
            window: 40,
        });
    }

    #[test]
    fn alpha_follows_the_share_of_marks() {
        // §3.3: α = 1 initially. The first acknowledgement completes a window of two segments, none
        // of them marked: α = 15/16.
        let mut dctcp = dctcp();
        window(&mut dctcp, 0, 0);
        assert_eq!(dctcp.alpha(), 15.0 / 16.0);
        // The following windows end at segments 44 and 86: 4 of 42 are marked, then 6 of 42.
        window(&mut dctcp, 40, 10);
        window(&mut dctcp, 80, 0);
        let first = 15.0 / 16.0 * 15.0 / 16.0 + 4.0 / 42.0 / 16.0;
        let second = first * 15.0 / 16.0 + 6.0 / 42.0 / 16.0;
        assert!((dctcp.alpha() - second).abs() < 1e-12, "{}", dctcp.alpha());
    }

    #[test]
    fn a_mark_cuts_by_half_of_alpha_and_a_loss_by_half() {
        let mut dctcp = dctcp();
        dctcp.share.set_alpha(0.25);
        mark(&mut dctcp);
        // 40·(1 − 0.125)
        assert_eq!((dctcp.cwnd(), dctcp.ssthresh()), (35.0, 35.0));
        lose(&mut dctcp, Instant::ZERO, 35);
        assert_eq!(dctcp.cwnd(), 17.0);
    }

    #[test]
    fn marks_leave_a_segment() {
        let mut dctcp = dctcp();
        for _ in 0..9 {
            mark(&mut dctcp);
        }
        assert_eq!((dctcp.cwnd(), dctcp.ssthresh()), (1.0, 2.0));
    }
}
