//! Tri-S, slow start and search (Wang and Crowcroft, CCR 1991; surveyed by Dahal 2007, §2.1.2, and Chan 2004, §2.3):
//! the window grows as long as one more segment increases the throughput.
//!
//! The throughput at a window of W segments is `T = W/D`, where D is the RTT of the round's first segment. The gradient
//! `TG = (T − T_old)/(W − W_old)` is normalized by that of the connection's first segment alone, `1/D_1`. Below
//! `NTG_d`, half of that, the path is full. There are three modes. Initially the window opens as in slow start, up to
//! the receiver's window. After a timeout it opens while the gradient is above `NTG_d`. Otherwise it grows by 1/cwnd
//! per acknowledgement; once it has grown by a segment, after about a round trip, a gradient below `NTG_d` reduces it
//! by one segment. Losses detected by duplicates, which the paper does not cover, are handled like Reno's.

use crate::controller::{Controller, Factory, Limits};
use crate::event::{AckEvent, LossEvent, TimeoutEvent};
use crate::registry::{Control, Recovery};
use crate::reno::{Reno, RenoConfig};
use crate::round::Round;
use units::Instant;

pub(crate) static TRI_S: Control = Control {
    name: "tris",
    label: "Tri-S",
    summary: "grows while one more segment brings more throughput",
    source: "Wang and Crowcroft 1991",
    recovery: Recovery::NewReno,
    marks: &[],
    needs: &[],
    settings: &[],
    factory: |_, _| Box::new(TriSConfig::default()),
};

/// Settings of [`TriS`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TriSConfig {
    /// `NTG_d`: below this normalized gradient the window shrinks.
    pub threshold: f64,
}

impl Default for TriSConfig {
    /// One half.
    fn default() -> Self {
        TriSConfig { threshold: 0.5 }
    }
}

impl TriSConfig {
    /// Creates a controller for a new connection.
    pub fn build(&self, limits: &Limits) -> TriS {
        TriS {
            threshold: self.threshold,
            initial_ssthresh: limits.initial_ssthresh,
            reno: RenoConfig {}.build(limits),
            first_delay: None,
            running: None,
            last: None,
            other: None,
            round: Round::default(),
            reopening: false,
        }
    }
}

impl Factory for TriSConfig {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        Box::new(self.build(limits))
    }
}

/// A window that searches for the knee of the throughput.
#[derive(Clone, Debug)]
pub struct TriS {
    threshold: f64,
    /// The receiver's window.
    initial_ssthresh: f64,
    reno: Reno,
    /// `D_1`, in seconds.
    first_delay: Option<f64>,
    /// When the current round began, and the number of segments in flight at that time.
    running: Option<(Instant, u64)>,
    /// The window and throughput of the preceding round, and those of the last different window.
    last: Option<(f64, f64)>,
    other: Option<(f64, f64)>,
    round: Round,
    /// Whether the window is opening after a timeout.
    reopening: bool,
}

/// The measurements of a round.
#[derive(Clone, Copy, Debug)]
struct Measured {
    window: f64,
    delay: f64,
}

impl TriS {
    /// The normalized throughput gradient between this window and the last different one.
    fn gradient(&mut self, round: Measured) -> Option<f64> {
        let Measured { window, delay } = round;
        let throughput = window / delay;
        let first_delay = *self.first_delay.get_or_insert(delay);
        if let Some(last) = self.last.replace((window, throughput))
            && last.0 != window
        {
            self.other = Some(last);
        }
        let (other_window, other_throughput) = self.other?;
        Some((throughput - other_throughput) / (window - other_window) * first_delay)
    }

    fn judge(&mut self, round: Measured) {
        let full = self
            .gradient(round)
            .is_some_and(|gradient| gradient < self.threshold);
        if !full {
            return;
        }
        if self.reno.in_slow_start() {
            if self.reopening {
                self.reno.end_slow_start();
            }
        } else {
            let cwnd = self.reno.cwnd();
            self.reno.shrink_to(cwnd - 1.0);
        }
    }

    /// The round's first segment was sent at its start, and is acknowledged now.
    fn measure(&mut self, ack: &AckEvent) -> Option<Measured> {
        let (start, window) = self.running.replace((ack.now, ack.next - ack.acked))?;
        let delay = ack.now.since(start).as_secs_f64();
        (window > 0 && delay > 0.0).then_some(Measured {
            window: window as f64,
            delay,
        })
    }

    /// Resets the measurements after a loss has changed the window: they do not yield a gradient.
    fn forget(&mut self) {
        self.running = None;
        self.last = None;
        self.other = None;
    }
}

impl Controller for TriS {
    fn cwnd(&self) -> f64 {
        self.reno.cwnd()
    }

    fn ssthresh(&self) -> f64 {
        self.reno.ssthresh()
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        if self.first_delay.is_none() {
            self.first_delay = ack.rtt_s();
        }
        self.reno.on_ack(ack);
        if !self.round.ends(ack) {
            return;
        }
        if let Some(measured) = self.measure(ack) {
            self.judge(measured);
        }
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        self.forget();
        self.reno.halve(loss.window);
    }

    fn on_timeout(&mut self, _timeout: &TimeoutEvent) {
        self.forget();
        self.reopening = true;
        // The gradient ends the opening.
        self.reno.start_over(self.initial_ssthresh);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sawtooth::lose;

    fn tri_s(cwnd: f64, ssthresh: f64) -> TriS {
        let mut tri_s = TriSConfig::default().build(&Limits {
            initial_window: cwnd,
            initial_ssthresh: ssthresh,
            max_cwnd: None,
            ..Limits::default()
        });
        tri_s.first_delay = Some(0.1);
        tri_s
    }

    fn judge(tri_s: &mut TriS, window: f64, delay: f64) -> f64 {
        tri_s.judge(Measured { window, delay });
        tri_s.cwnd()
    }

    #[test]
    fn the_gradient_by_hand() {
        // 10 segments in 100 ms, 11 in 105: (104.76 − 100)/1·0.1 = 0.476.
        let mut tri_s = tri_s(10.0, 2.0);
        let mut gradient = |window, delay| tri_s.gradient(Measured { window, delay });
        assert_eq!(gradient(10.0, 0.1), None);
        let ntg = gradient(11.0, 0.105).unwrap();
        assert!((ntg - (11.0 / 0.105 - 100.0) * 0.1).abs() < 1e-12);
        assert!((ntg - 0.476).abs() < 1e-3);
        // One segment fewer on an empty path reduces the throughput by its share: 1.
        gradient(11.0, 0.1);
        assert!((gradient(10.0, 0.1).unwrap() - 1.0).abs() < 1e-9);
        // The same window again is compared with the last different one: (50 − 110)/(10 − 11)·0.1.
        assert!((gradient(10.0, 0.2).unwrap() - 6.0).abs() < 1e-9);
    }

    #[test]
    fn a_full_path_takes_a_segment() {
        let mut full = tri_s(12.0, 12.0);
        judge(&mut full, 11.0, 0.1);
        // 12 segments at 109 ms have no more throughput than 11 at 100 ms.
        assert_eq!(judge(&mut full, 12.0, 0.109), 11.0);
        assert!(!full.reno.in_slow_start());
        let mut empty = tri_s(12.0, 2.0);
        judge(&mut empty, 11.0, 0.1);
        assert_eq!(judge(&mut empty, 12.0, 0.1), 12.0);
    }

    #[test]
    fn only_after_a_timeout_the_gradient_ends_the_opening() {
        let mut first = tri_s(12.0, 64.0);
        judge(&mut first, 6.0, 0.1);
        judge(&mut first, 12.0, 0.2);
        assert_eq!((first.cwnd(), first.ssthresh()), (12.0, 64.0));
        first.on_timeout(&TimeoutEvent {
            now: Instant::ZERO,
            window: 12,
        });
        assert_eq!((first.cwnd(), first.ssthresh()), (1.0, 64.0));
        first.reno.set_cwnd(12.0);
        judge(&mut first, 6.0, 0.1);
        judge(&mut first, 12.0, 0.2);
        assert_eq!((first.cwnd(), first.ssthresh()), (12.0, 12.0));
    }

    #[test]
    fn duplicates_halve() {
        let mut tri_s = tri_s(12.0, 2.0);
        lose(&mut tri_s, Instant::ZERO, 12);
        assert_eq!((tri_s.cwnd(), tri_s.ssthresh()), (6.0, 6.0));
    }
}
