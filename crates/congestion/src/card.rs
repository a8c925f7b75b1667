//! CARD (Jain, CCR 1989; surveyed by Dahal 2007, §2.1.2, and Chan 2004, §2.3): congestion avoidance using round-trip
//! delay.
//!
//! Every two round trips the window changes, opposite to the sign of the normalized delay gradient
//! `NDG = (D − D_old)/(D + D_old)·(W + W_old)/(W − W_old)`: it grows by one segment or shrinks to 0.875. It never
//! settles, but oscillates around the knee of the delay. D is the RTT of the first segment sent after a window has been
//! in use for a round trip, because later segments follow bursts that the change itself causes. There is no slow start.
//! The paper does not cover losses: here those detected by duplicates halve the window, and timeouts restart from one
//! segment.

use crate::controller::{Controller, Factory, Limits, Phase, Snapshot};
use crate::event::{AckEvent, LossEvent, TimeoutEvent};
use crate::registry::{Control, Recovery};
use crate::round::Round;
use crate::rtt::CleanRtt;
use units::Instant;

/// `W_min`
const MIN_WINDOW: f64 = 1.0;

pub(crate) static CARD: Control = Control {
    name: "card",
    label: "CARD",
    summary: "shrinks the window if the delay increased with it, otherwise grows it",
    source: "Jain 1989",
    recovery: Recovery::NewReno,
    marks: &[],
    needs: &[],
    settings: &[],
    factory: |_, _| Box::new(CardConfig::default()),
};

/// Settings of [`Card`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CardConfig {
    /// `ΔW`: the segments by which an increase raises the window.
    pub increase: f64,
    /// `c`: the factor of a decrease.
    pub decrease: f64,
}

impl Default for CardConfig {
    /// The recommended values 1 and 0.875.
    fn default() -> Self {
        CardConfig {
            increase: 1.0,
            decrease: 0.875,
        }
    }
}

impl CardConfig {
    /// Creates a controller for a new connection.
    pub fn build(&self, limits: &Limits) -> Card {
        Card {
            config: *self,
            limits: *limits,
            cwnd: limits.initial_window,
            rtt: CleanRtt::default(),
            last: None,
            round: Round::default(),
            settling: true,
        }
    }
}

impl Factory for CardConfig {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        Box::new(self.build(limits))
    }
}

/// A window, and the delay at the previous window.
#[derive(Clone, Debug)]
pub struct Card {
    config: CardConfig,
    limits: Limits,
    cwnd: f64,
    rtt: CleanRtt,
    /// `W_old` and `D_old`
    last: Option<(f64, f64)>,
    round: Round,
    /// Whether the window has just changed, so that the delay of this round still belongs to the old one.
    settling: bool,
}

/// The normalized delay gradient. `None` if the window has not changed.
fn gradient(window: f64, delay: f64, last_window: f64, last_delay: f64) -> Option<f64> {
    let moved = window - last_window;
    (moved != 0.0)
        .then(|| (delay - last_delay) / (delay + last_delay) * (window + last_window) / moved)
}

impl Card {
    fn decide(&mut self, delay: f64) {
        let cwnd = self.cwnd;
        let gradient = self
            .last
            .replace((cwnd, delay))
            .and_then(|(last_window, last_delay)| gradient(cwnd, delay, last_window, last_delay));
        let max = self.limits.initial_ssthresh;
        let rising = gradient.is_some_and(|gradient| gradient > 0.0);
        self.cwnd = if (rising || cwnd >= max) && cwnd > MIN_WINDOW {
            (cwnd * self.config.decrease).max(MIN_WINDOW)
        } else {
            self.limits.cap(cwnd + self.config.increase)
        };
    }

    /// Restarts after a loss has changed the window: earlier measurements do not yield a gradient.
    fn restart(&mut self, cwnd: f64) {
        self.cwnd = cwnd;
        self.last = None;
        self.rtt.on_loss();
        self.settling = true;
    }
}

impl Controller for Card {
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    /// There is no slow start. Returns the smallest valid threshold.
    fn ssthresh(&self) -> f64 {
        2.0
    }

    fn on_sent(&mut self, _now: Instant, segment: u64) {
        self.rtt.on_sent(segment);
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        if !self.round.ends(ack) {
            return;
        }
        if self.settling {
            self.settling = false;
        } else if let Some(delay) = self.rtt.sample(ack).filter(|delay| *delay > 0.0) {
            self.decide(delay);
            self.settling = true;
        }
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        self.restart(((loss.window / 2) as f64).max(MIN_WINDOW));
    }

    fn on_timeout(&mut self, _timeout: &TimeoutEvent) {
        self.restart(MIN_WINDOW);
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            cwnd: self.cwnd,
            ssthresh: self.ssthresh(),
            phase: Phase::Avoidance,
            base_rtt: None,
            diff: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sawtooth::lose;
    use units::Duration;

    fn card(cwnd: f64, last: Option<(f64, f64)>) -> Card {
        let mut card = CardConfig::default().build(&Limits {
            initial_window: cwnd,
            initial_ssthresh: 64.0,
            max_cwnd: None,
            ..Limits::default()
        });
        card.last = last;
        card
    }

    #[test]
    fn the_gradient_by_hand() {
        // (120 − 100)/(120 + 100)·(9 + 8)/(9 − 8) = 17/11.
        let ndg = gradient(9.0, 0.12, 8.0, 0.1).unwrap();
        assert!((ndg - 17.0 / 11.0).abs() < 1e-12);
        // Less delay at a smaller window gives the same sign.
        assert!(gradient(8.0, 0.1, 9.0, 0.12).unwrap() > 0.0);
        assert!(gradient(8.0, 0.1, 9.0, 0.1).unwrap() <= 0.0);
        assert_eq!(gradient(8.0, 0.1, 8.0, 0.2), None);
    }

    #[test]
    fn a_rising_delay_takes_an_eighth_and_a_level_one_adds_a_segment() {
        for (last, delay, after) in [
            (Some((15.0, 0.1)), 0.11, 14.0),
            (Some((17.0, 0.1)), 0.09, 14.0),
            (Some((15.0, 0.1)), 0.1, 17.0),
            (None, 0.1, 17.0),
        ] {
            let mut card = card(16.0, last);
            card.decide(delay);
            assert_eq!(card.cwnd(), after, "{last:?} {delay}");
        }
        // Decreases at the maximum window and increases at the minimum, regardless of the gradient.
        let mut card_at_max = card(64.0, None);
        card_at_max.decide(0.1);
        assert_eq!(card_at_max.cwnd(), 56.0);
        let mut card_at_min = card(1.0, Some((2.0, 0.2)));
        card_at_min.decide(0.1);
        assert_eq!(card_at_min.cwnd(), 2.0);
    }

    #[test]
    fn the_window_moves_every_two_round_trips() {
        // Rounds of two segments end at 1, 3, 5, 7: the first is that of the first segment.
        let mut card = card(2.0, None);
        let mut windows = Vec::new();
        for acked in 1..=7 {
            card.on_ack(&AckEvent {
                acked,
                next: acked + 1,
                rtt: Some(Duration::from_millis(100)),
                ..AckEvent::default()
            });
            windows.push(card.cwnd());
        }
        assert_eq!(windows, [2.0, 2.0, 3.0, 3.0, 3.0, 3.0, 4.0]);
    }

    #[test]
    fn losses_are_renos() {
        let mut card = card(16.0, Some((15.0, 0.1)));
        lose(&mut card, Instant::ZERO, 16);
        assert_eq!((card.cwnd(), card.last), (8.0, None));
        card.on_timeout(&TimeoutEvent {
            now: Instant::ZERO,
            window: 8,
        });
        assert_eq!(card.cwnd(), 1.0);
    }
}
