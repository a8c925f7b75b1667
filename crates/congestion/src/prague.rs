//! Prague (draft-briscoe-iccrg-prague-congestion-control): DCTCP's reduction, for the coupled queues of L4S (RFC 9331,
//! RFC 9332).
//!
//! As in DCTCP, `α` tracks the fraction of marked segments, and a mark reduces the window by `α/2`. But `α` is updated
//! at most once per 25 ms, and the window only grows by unmarked segments. After some time, flows with short round
//! trips grow as if their round trips took 25 ms, so that they do not starve others.

use units::{Duration, Instant};

use crate::controller::{Controller, Factory, Limits};
use crate::event::{AckEvent, LossEvent, TimeoutEvent};
use crate::marked_share::MarkedShare;
use crate::registry::{Control, Need, Recovery};
use crate::reno::{Reno, RenoConfig};
use crate::round::Round;

/// Marks may reduce the window to two segments.
const MIN_WINDOW: f64 = 2.0;

pub(crate) static PRAGUE: Control = Control {
    name: "prague",
    label: "Prague",
    summary: "DCTCP for the coupled queues of L4S",
    source: "draft-briscoe-iccrg-prague-congestion-control",
    recovery: Recovery::Sack,
    marks: &[],
    needs: &[Need::Ecn, Need::L4s],
    settings: &[],
    factory: |_, _| Box::new(PragueConfig::default()),
};

/// Settings of [`Prague`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PragueConfig {
    /// `g`: the weight of the newest fraction of marks in `α`.
    pub g: f64,
    /// The reference round-trip time. Shorter ones count as this.
    pub reference: Duration,
    /// Number of rounds before the reference applies.
    pub rounds: u64,
}

impl Default for PragueConfig {
    /// 1/16, 25 ms, 500 rounds, as in the draft.
    fn default() -> Self {
        PragueConfig {
            g: 1.0 / 16.0,
            reference: Duration::from_millis(25),
            rounds: 500,
        }
    }
}

impl PragueConfig {
    /// Creates a controller for a new connection.
    pub fn build(&self, limits: &Limits) -> Prague {
        Prague {
            config: *self,
            reno: RenoConfig {}.build(limits),
            share: MarkedShare::new(self.g),
            observed_at: None,
            window: Round::default(),
            rounds: 0,
            rtt: None,
        }
    }
}

impl Factory for PragueConfig {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        Box::new(self.build(limits))
    }
}

/// A window, and the fraction of its segments that are marked.
#[derive(Clone, Debug)]
pub struct Prague {
    config: PragueConfig,
    /// Losses, timeouts and slow start are Reno's.
    reno: Reno,
    share: MarkedShare,
    /// When `α` was last updated.
    observed_at: Option<Instant>,
    window: Round,
    /// Rounds since slow start ended.
    rounds: u64,
    /// Smoothed as in RFC 6298, in seconds.
    rtt: Option<f64>,
}

impl Prague {
    /// The current `α`.
    pub fn alpha(&self) -> f64 {
        self.share.alpha()
    }

    fn count(&mut self, ack: &AckEvent) {
        self.share.count(ack);
        if let Some(rtt) = ack.rtt_s() {
            let smoothed = self.rtt.unwrap_or(rtt);
            self.rtt = Some(smoothed + (rtt - smoothed) / 8.0);
        }
    }

    /// §2.3.2 of the draft, in version 01: `α` is updated once per round or once per 25 ms, whichever is longer.
    fn observe(&mut self, ack: &AckEvent) {
        self.count(ack);
        if !self.window.ends(ack) {
            return;
        }
        self.rounds += u64::from(!self.reno.in_slow_start());
        let reference = self.config.reference;
        if self.observed_at.is_some_and(|at| ack.now < at + reference) {
            return;
        }
        self.observed_at = Some(ack.now);
        self.share.update();
    }

    /// The growth per unmarked segment, times the window: 1 per round, less in a round that is shorter than the
    /// reference.
    fn increment(&self) -> f64 {
        let reference_s = self.config.reference.as_secs_f64();
        match self.rtt {
            Some(rtt) if rtt < reference_s && self.rounds >= self.config.rounds => {
                let share = rtt / reference_s;
                share * share
            }
            _ => 1.0,
        }
    }
}

impl Controller for Prague {
    fn cwnd(&self) -> f64 {
        self.reno.cwnd()
    }

    fn ssthresh(&self) -> f64 {
        self.reno.ssthresh()
    }

    /// Reno's slow start until the first mark. After that, only unmarked segments increase the window.
    fn on_ack(&mut self, ack: &AckEvent) {
        self.observe(ack);
        if self.reno.in_slow_start() {
            self.reno.on_ack(ack);
        } else if !ack.window_unused {
            let unmarked = ack.newly_delivered.saturating_sub(ack.newly_marked);
            self.reno
                .grow(unmarked as f64 * self.increment() / self.cwnd());
        }
    }

    fn on_partial_ack(&mut self, ack: &AckEvent) {
        self.observe(ack);
    }

    fn on_duplicate_ack(&mut self, ack: &AckEvent) {
        self.count(ack);
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        self.reno.halve(loss.window);
    }

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

    /// In congestion avoidance, with a window of 40.
    fn prague(rounds: u64) -> Prague {
        PragueConfig {
            rounds,
            ..PragueConfig::default()
        }
        .build(&Limits {
            initial_window: 40.0,
            initial_ssthresh: 2.0,
            max_cwnd: None,
            ..Limits::default()
        })
    }

    /// A segment is acknowledged, with a window of 40 segments behind it.
    fn ack(number: u64, at_us: u64, rtt_ms: u64, marked: bool) -> AckEvent {
        AckEvent {
            now: Instant::from_micros(at_us),
            acked: number + 1,
            newly_acked: 1,
            next: number + 41,
            newly_delivered: 1,
            newly_marked: marked.into(),
            rtt: Some(Duration::from_millis(rtt_ms)),
            ..AckEvent::default()
        }
    }

    fn mark(prague: &mut Prague) {
        prague.on_congestion_mark(&LossEvent {
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
    fn alpha_moves_once_in_25_ms() {
        // Rounds of 10 ms: α is updated with segment 0 (1 → 15/16), and at the first end of a round after 25 ms, with
        // segment 123 at 30.75 ms. Of the 123 segments since then, 1 in 4 is marked.
        let mut prague = prague(500);
        for number in 0..124 {
            prague.on_ack(&ack(number, 250 * number, 10, number % 4 == 1));
        }
        let first = 15.0 / 16.0;
        let second = first + (31.0 / 123.0 - first) / 16.0;
        assert!(
            (prague.alpha() - second).abs() < 1e-12,
            "{}",
            prague.alpha()
        );
    }

    #[test]
    fn a_mark_cuts_by_half_of_alpha() {
        let mut prague = prague(500);
        prague.share.set_alpha(0.25);
        mark(&mut prague);
        assert_eq!(prague.cwnd(), 40.0 * 0.875);
        prague.share.set_alpha(1.0);
        (0..9).for_each(|_| mark(&mut prague));
        assert_eq!(prague.cwnd(), MIN_WINDOW);
    }

    #[test]
    fn marked_segments_add_nothing() {
        let mut prague = prague(500);
        prague.on_ack(&ack(0, 0, 50, true));
        assert_eq!(prague.cwnd(), 40.0);
        prague.on_ack(&ack(1, 0, 50, false));
        assert_eq!(prague.cwnd(), 40.0 + 1.0 / 40.0);
    }

    #[test]
    fn short_rounds_grow_as_if_they_took_25_ms() {
        let mut at_once = prague(0);
        at_once.on_ack(&ack(0, 0, 5, false));
        assert_eq!(at_once.cwnd(), 40.0 + 0.04 / 40.0);
        let mut later = prague(2);
        later.on_ack(&ack(0, 0, 5, false));
        assert_eq!(later.cwnd(), 40.0 + 1.0 / 40.0);
    }
}
