//! CUBIC (RFC 9438): the window is a cubic function of the time since the last congestion event.
//!
//! The window grows fast towards its size at that event, stays there for a while, and then probes ever faster. Where
//! Reno would have grown more, it grows like Reno. Sections 4.9 (undoing a spurious event) and 4.10's HyStart++ are not
//! implemented; slow start is Reno's.

use units::Instant;

use crate::controller::{Controller, Factory, Limits};
use crate::event::{AckEvent, LossEvent, TimeoutEvent};
use crate::registry::{Control, Recovery};
use crate::reno::{Reno, RenoConfig};
use crate::rtt::CleanRtt;

pub(crate) static CUBIC: Control = Control {
    name: "cubic",
    label: "CUBIC",
    summary: "a cubic function of the time since the last loss",
    source: "RFC 9438",
    recovery: Recovery::Sack,
    marks: &[],
    needs: &[],
    settings: &[],
    factory: |_, _| Box::new(CubicConfig::default()),
};

/// Settings of [`Cubic`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CubicConfig {
    /// `C`: the aggressiveness of the growth, in segments per s³.
    pub c: f64,
    /// `β`: the factor by which a congestion event reduces the window.
    pub beta: f64,
    /// Whether a flow whose window at losses shrinks releases bandwidth to others (§4.7).
    pub fast_convergence: bool,
}

impl Default for CubicConfig {
    /// `C` = 0.4, β = 0.7, fast convergence, as the RFC recommends (§4.6, §5.1).
    fn default() -> Self {
        CubicConfig {
            c: 0.4,
            beta: 0.7,
            fast_convergence: true,
        }
    }
}

impl CubicConfig {
    /// Creates a controller for a new connection.
    pub fn build(&self, limits: &Limits) -> Cubic {
        Cubic {
            config: *self,
            reno: RenoConfig {}.build(limits),
            rtt: CleanRtt::default(),
            srtt: None,
            w_max: None,
            cwnd_prior: 0.0,
            stage: None,
            unused_since: None,
        }
    }

    /// `α`: the growth in segments per RTT at which AIMD(α, β) has the same throughput as Reno (§4.3).
    fn alpha(&self) -> f64 {
        3.0 * (1.0 - self.beta) / (1.0 + self.beta)
    }
}

impl Factory for CubicConfig {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        Box::new(self.build(limits))
    }
}

/// A window, and the state of the cubic growth.
#[derive(Clone, Debug)]
pub struct Cubic {
    config: CubicConfig,
    reno: Reno,
    rtt: CleanRtt,
    /// The smoothed round-trip time (RFC 6298), in seconds.
    srtt: Option<f64>,
    /// The window at the last congestion event, unless that was a timeout.
    w_max: Option<f64>,
    /// `cwnd_prior`: the window when the threshold was last set.
    cwnd_prior: f64,
    /// The current congestion avoidance stage, from its first acknowledgement to the next congestion event.
    stage: Option<Stage>,
    /// Since when the window has not been full. This time does not count (§5.8).
    unused_since: Option<Instant>,
}

/// A congestion avoidance stage.
#[derive(Clone, Copy, Debug)]
struct Stage {
    /// `t_epoch`
    start: Instant,
    /// The position of the plateau, in seconds after the start and in segments.
    k: f64,
    w_max: f64,
    /// The estimated window of Reno.
    w_est: f64,
}

impl Stage {
    /// Figure 2. If there is no window to return to, after a timeout (§4.8) or a slow start without congestion (§4.10),
    /// the plateau is at the current time and window.
    fn new(start: Instant, cwnd: f64, w_max: Option<f64>, c: f64) -> Self {
        let w_max = w_max.unwrap_or(cwnd).max(cwnd);
        Stage {
            start,
            k: libm::cbrt((w_max - cwnd) / c),
            w_max,
            w_est: cwnd,
        }
    }

    /// `W_cubic(t)`, Figure 1.
    fn cubic(&self, t: f64, c: f64) -> f64 {
        let after = t - self.k;
        c * (after * after * after) + self.w_max
    }
}

impl Cubic {
    fn sample(&mut self, ack: &AckEvent) {
        let Some(rtt) = self.rtt.sample(ack) else {
            return;
        };
        self.srtt = Some(self.srtt.map_or(rtt, |srtt| srtt + (rtt - srtt) / 8.0));
    }

    /// §4.2 to §4.5: the window after an acknowledgement in congestion avoidance.
    fn avoid(&mut self, ack: &AckEvent) {
        let cwnd = self.reno.cwnd();
        let CubicConfig { c, .. } = self.config;
        let stage = self
            .stage
            .get_or_insert_with(|| Stage::new(ack.now, cwnd, self.w_max, c));
        if let Some(since) = self.unused_since.take() {
            stage.start = (stage.start + ack.now.since(since)).min(ack.now);
        }
        let t = ack.now.since(stage.start).as_secs_f64();
        let alpha = if stage.w_est >= self.cwnd_prior {
            1.0
        } else {
            self.config.alpha()
        };
        // Figure 4
        stage.w_est += alpha * ack.newly_acked as f64 / cwnd;
        let after = if stage.cubic(t, c) < stage.w_est {
            stage.w_est.max(cwnd)
        } else {
            let target = stage.cubic(t + self.srtt.unwrap_or(0.0), c);
            cwnd + (target.clamp(cwnd, 1.5 * cwnd) - cwnd) / cwnd
        };
        self.reno.grow(after - cwnd);
    }

    /// §4.7, and ends the stage.
    fn remember(&mut self) {
        let cwnd = self.reno.cwnd();
        let shrinking = self.w_max.is_some_and(|w_max| cwnd < w_max);
        self.w_max = Some(if shrinking && self.config.fast_convergence {
            cwnd * (1.0 + self.config.beta) / 2.0
        } else {
            cwnd
        });
        self.cwnd_prior = cwnd;
        self.stage = None;
    }

    /// Figure 5.
    fn cut(&mut self, flight_size: u64, floor: f64) {
        self.remember();
        self.reno
            .cut_to(flight_size as f64 * self.config.beta, floor);
    }
}

impl Controller for Cubic {
    fn cwnd(&self) -> f64 {
        self.reno.cwnd()
    }

    fn ssthresh(&self) -> f64 {
        self.reno.ssthresh()
    }

    fn on_sent(&mut self, _now: Instant, segment: u64) {
        self.rtt.on_sent(segment);
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        self.sample(ack);
        if ack.window_unused {
            self.unused_since.get_or_insert(ack.now);
        } else if self.reno.in_slow_start() {
            self.unused_since = None;
            self.reno.on_ack(ack);
        } else {
            self.avoid(ack);
        }
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        self.rtt.on_loss();
        self.cut(loss.window, 2.0);
    }

    fn on_congestion_mark(&mut self, mark: &LossEvent) {
        self.cut(mark.window, 1.0);
    }

    /// §4.8
    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        self.rtt.on_loss();
        self.remember();
        self.w_max = None;
        self.reno
            .start_over(timeout.window as f64 * self.config.beta);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sawtooth::{average_window, lose};
    use units::Duration;

    fn cubic(cwnd: f64) -> Cubic {
        CubicConfig::default().build(&Limits {
            initial_window: cwnd,
            initial_ssthresh: 2.0,
            max_cwnd: None,
            ..Limits::default()
        })
    }

    fn ack(ms: u64) -> AckEvent {
        AckEvent {
            now: Instant::from_micros(ms * 1000),
            acked: 1,
            newly_acked: 1,
            rtt: Some(Duration::from_millis(100)),
            ..AckEvent::default()
        }
    }

    fn close(left: f64, right: f64) -> bool {
        (left - right).abs() < 1e-9 * right.abs()
    }

    #[test]
    fn a_loss_leaves_seven_tenths_and_the_curve_returns_after_k() {
        // Figure 5: 0.7·1000. Figure 2: K = ∛((1000 − 700)/0.4) = ∛750 = 9.0856 s.
        let mut cubic = cubic(1000.0);
        lose(&mut cubic, Instant::ZERO, 1000);
        assert_eq!((cubic.cwnd(), cubic.ssthresh()), (700.0, 700.0));
        cubic.on_ack(&ack(0));
        let stage = cubic.stage.unwrap();
        assert!((stage.k - 9.0856).abs() < 1e-4);
        // Figure 1: W(0) = 700, W(K) = 1000, W(K + 5 s) = 1000 + 0.4·125 = 1050.
        assert!(close(stage.cubic(0.0, 0.4), 700.0));
        assert!(close(stage.cubic(stage.k, 0.4), 1000.0));
        assert!(close(stage.cubic(stage.k + 5.0, 0.4), 1050.0));
    }

    #[test]
    fn an_acknowledgement_steps_towards_the_window_one_rtt_on() {
        // §4.4. At t = 1 s, RTT 0.1 s: W(1.1) = 0.4·(1.1 − ∛750)³ + 1000 = 796.3...
        let mut cubic = cubic(1000.0);
        lose(&mut cubic, Instant::ZERO, 1000);
        cubic.on_ack(&ack(0));
        let before = cubic.cwnd();
        cubic.on_ack(&ack(1000));
        let after = 1.1 - libm::cbrt(750.0);
        let target = 0.4 * (after * after * after) + 1000.0;
        assert!((796.0..797.0).contains(&target), "{target}");
        assert!(close(cubic.cwnd(), before + (target - before) / before));
        // §4.2: the growth is at most half the window per round trip.
        let before = cubic.cwnd();
        cubic.on_ack(&ack(60_000));
        assert!(close(cubic.cwnd(), before + 0.5));
    }

    #[test]
    fn on_short_paths_it_grows_as_reno_would() {
        // Figure 4: α = 3·0.3/1.7 = 9/17 per window, and 1 once W_est reaches the window before the reduction. From 7 =
        // 0.7·10, an acknowledgement adds (9/17)/7, because the curve, K = ∛7.5, is flatter.
        let mut cubic = cubic(10.0);
        lose(&mut cubic, Instant::ZERO, 10);
        cubic.on_ack(&ack(0));
        assert!(close(cubic.cwnd(), 7.0 + 9.0 / 17.0 / 7.0));
        while cubic.stage.unwrap().w_est < 10.0 {
            cubic.on_ack(&ack(0));
        }
        let before = cubic.cwnd();
        cubic.on_ack(&ack(0));
        assert!(close(cubic.cwnd(), before + 1.0 / before));
    }

    #[test]
    fn a_shrinking_flow_releases_more() {
        // §4.7: W_max is 1000. A loss at 800 < 1000 sets 800·1.7/2 = 680, and one at 900 sets 900.
        let mut cubic = cubic(1000.0);
        for (cwnd, remembered) in [(1000.0, 1000.0), (800.0, 680.0), (900.0, 900.0)] {
            cubic.reno.set_cwnd(cwnd);
            lose(&mut cubic, Instant::ZERO, cwnd as u64);
            assert_eq!(cubic.w_max, Some(remembered));
        }
    }

    #[test]
    fn after_a_timeout_the_curve_is_flat_where_slow_start_ends() {
        // §4.8: ssthresh = 0.7·100, then K = 0 and W_max = 70.
        let mut cubic = cubic(100.0);
        cubic.on_timeout(&TimeoutEvent {
            now: Instant::ZERO,
            window: 100,
        });
        assert_eq!((cubic.cwnd(), cubic.ssthresh()), (1.0, 70.0));
        for _ in 0..70 {
            cubic.on_ack(&ack(0));
        }
        let stage = cubic.stage.unwrap();
        assert_eq!((stage.k, stage.w_max), (0.0, 70.0));
    }

    #[test]
    fn marks_may_leave_one_segment_and_losses_two() {
        let mut cubic = cubic(2.0);
        lose(&mut cubic, Instant::ZERO, 2);
        assert_eq!((cubic.cwnd(), cubic.ssthresh()), (2.0, 2.0));
        cubic.on_congestion_mark(&LossEvent {
            now: Instant::ZERO,
            evidence: crate::event::Evidence::Mark,
            lost: 0,
            sent_at: None,
            transmissions: 0,
            duplicates: 0,
            window: 1,
        });
        assert_eq!((cubic.cwnd(), cubic.ssthresh()), (1.0, 2.0));
    }

    #[test]
    fn time_in_which_the_window_was_not_used_does_not_count() {
        // §5.8
        let mut idle = cubic(1000.0);
        let mut busy = cubic(1000.0);
        for cubic in [&mut idle, &mut busy] {
            lose(cubic, Instant::ZERO, 1000);
            cubic.on_ack(&ack(0));
        }
        idle.on_ack(&AckEvent {
            window_unused: true,
            ..ack(500)
        });
        idle.on_ack(&ack(8500));
        busy.on_ack(&ack(500));
        assert_eq!(idle.cwnd(), busy.cwnd());
    }

    const ALONE: CubicConfig = CubicConfig {
        c: 0.4,
        beta: 0.7,
        fast_convergence: false,
    };

    /// RFC 8312, tables 1 and 2 (C = 0.4), by equations that RFC 9438 did not change. The curve is flat at its peak, so
    /// that a window far from the table's takes hundreds of losses to reach it. Each therefore starts at the peak,
    /// 4/3.7 of the average.
    #[test]
    fn average_windows_are_those_of_the_tables() {
        for (rtt_s, gap, expected) in [
            (0.1, 1_000, 38.0),
            (0.1, 10_000, 187.0),
            (0.1, 100_000, 1054.0),
            (0.01, 1_000, 38.0),
            (0.01, 10_000, 120.0),
            (0.01, 100_000, 379.0),
        ] {
            let average = average_window(&ALONE, rtt_s, gap, expected * 4.0 / 3.7);
            let off = average / expected - 1.0;
            assert!(
                off.abs() < 0.05,
                "RTT {rtt_s}, a loss in {gap}: {average:.1}, expected {expected}"
            );
        }
    }

    #[test]
    fn a_window_off_the_table_moves_towards_it() {
        let from = |start: f64| average_window(&ALONE, 0.1, 10_000, start);
        let (low, high) = (from(100.0), from(400.0));
        assert!(
            low > 100.0 * 3.7 / 4.0 && high < 400.0 * 3.7 / 4.0,
            "{low} {high}"
        );
        assert!(low < 187.0 * 1.1 && high > 187.0 * 0.9, "{low} {high}");
    }
}
