//! Competing flows that fill the queue until it overflows.
//!
//! A flow that keeps a short backlog next to them has a small part of a long queue, and therefore of the rate. They are
//! detected by a queue that is full (CI) again although the flow kept its backlog. In competition with them, the flow
//! uses the window that CUBIC would have (RFC 9438). But it only changes the window when the queue has been full: it
//! then grows by as much as CUBIC's would have grown since. It shrinks when a recovery begins, and once per round trip
//! of a long recovery. Flows of this control alone therefore never fill a queue repeatedly. The window ends when the
//! queue has not been full for twice the longest time between two full queues. Until then it limits the flow only if
//! there was a queue in the last round trip.

use crate::event::AckEvent;

/// The number of round trips within which a second full queue indicates rivals.
const SUSPICION: f64 = 256.0;
/// The rivals are considered gone after this multiple of the longest time between two full queues.
const GONE: f64 = 2.0;
/// CUBIC's `C`, in segments per s³ (RFC 9438, §5.1).
const C: f64 = 0.4;
/// CUBIC's β: the factor by which a loss reduces the window (§4.6).
const LEFT: f64 = 0.7;
/// CUBIC's α: the growth per round trip that equals Reno's average growth (§4.3).
const ALPHA: f64 = 3.0 * (1.0 - LEFT) / (1.0 + LEFT);

/// The number of round trips after which a recovery is long, and refusals in it count again. With a smaller number,
/// bursts of other traffic reduce throughput. With a larger one, flows in a short buffer, where a recovery takes
/// hundreds of round trips, have unequal shares. Chosen by measurement (docs/waymark-control.md, "What was tried").
const LASTING: f64 = 8.0;

/// Whether there are rivals, and the window in competition with them. Times are in seconds, windows in segments.
#[derive(Clone, Debug, Default)]
pub(super) struct Rivals {
    /// When the queue was last full.
    full_at: Option<f64>,
    /// Until when acknowledgements report the same full queue.
    same_until: f64,
    /// When the newest recovery from a full queue began.
    refused_at: f64,
    /// `None` without rivals.
    window: Option<Window>,
    /// Times that differ by at most this are considered equal.
    slack: f64,
}

/// The window in competition with rivals.
#[derive(Clone, Copy, Debug)]
struct Window {
    /// The window of the flow.
    kept: f64,
    /// When a loss last reduced CUBIC's window.
    cut_at: f64,
    /// CUBIC's window before that reduction.
    before: f64,
    /// CUBIC's window after that reduction.
    after: f64,
    /// The longest time between two full queues.
    longest: f64,
    /// If there is no full queue until then, the rivals have gone.
    until: f64,
}

impl Window {
    /// Creates the first window. `time` is the time between two full queues.
    fn new(kept: f64, now: f64, time: f64) -> Self {
        Window {
            kept,
            cut_at: now,
            before: kept,
            after: kept,
            longest: time,
            until: now + GONE * time,
        }
    }

    /// CUBIC's current window (§4.2, §4.3).
    fn grown(&self, now: f64, round_trip: f64) -> f64 {
        let time = now - self.cut_at;
        let from_flat = time - libm::cbrt((self.before - self.after) / C);
        let cubic = C * (from_flat * from_flat * from_flat) + self.before;
        cubic.max(self.after + ALPHA * time / round_trip)
    }
}

impl Rivals {
    /// Times that differ by at most `slack` are considered equal.
    pub(super) fn new(slack: f64) -> Self {
        Rivals {
            slack,
            ..Rivals::default()
        }
    }

    /// The window while there are rivals.
    pub(super) fn window(&self) -> Option<f64> {
        self.window.map(|window| window.kept)
    }

    /// Handles an acknowledgement at `now`. `waits`: more than the flow's backlog is queued.
    pub(super) fn acknowledge(&mut self, ack: &AckEvent, waits: bool, now: f64, round_trip: f64) {
        if self
            .window
            .is_some_and(|window| now > window.until + self.slack)
        {
            self.window = None;
        }
        if !ack.ci_echo {
            return;
        }
        if now > self.same_until + self.slack
            && let Some(before) = self.full_at.replace(now)
        {
            let time = now - before;
            if let Some(window) = &mut self.window {
                window.kept = window.kept.max(window.grown(now, round_trip));
                window.longest = window.longest.max(time);
                window.until = now + GONE * window.longest;
            } else if waits && time < SUSPICION * round_trip - self.slack {
                let grown = ack.in_flight as f64 + ALPHA * time / round_trip;
                self.window = Some(Window::new(grown, now, time));
            }
        }
        self.same_until = now + round_trip;
    }

    /// The full queue refused segments of this flow, and a recovery begins.
    pub(super) fn refused(&mut self, now: f64) {
        self.refused_at = now;
        self.cut(now);
    }

    /// The full queue refused segments of this flow, possibly in a recovery that began before.
    pub(super) fn refused_again(&mut self, now: f64, round_trip: f64) {
        let is_later = |then: f64| now > then + self.slack;
        let lasts = is_later(self.refused_at + LASTING * round_trip);
        if lasts
            && self
                .window
                .is_some_and(|window| is_later(window.cut_at + round_trip))
        {
            self.cut(now);
        }
    }

    fn cut(&mut self, now: f64) {
        if let Some(window) = &mut self.window {
            window.before = window.kept;
            window.after = (LEFT * window.kept).max(1.0);
            window.cut_at = now;
            // The mean of the curve up to its plateau.
            window.kept = window.before - (window.before - window.after) / 4.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUND_TRIP: f64 = 1.0;

    /// The queue was full at these times, with 40 segments in flight.
    fn full_at(times: &[f64]) -> Rivals {
        let mut rivals = Rivals::default();
        for time in times {
            acknowledge(&mut rivals, *time, true, true);
        }
        rivals
    }

    fn acknowledge(rivals: &mut Rivals, now: f64, ci_echo: bool, waits: bool) {
        let ack = AckEvent {
            in_flight: 40,
            ci_echo,
            ..AckEvent::default()
        };
        rivals.acknowledge(&ack, waits, now, ROUND_TRIP);
    }

    #[test]
    fn a_queue_that_was_full_once_shows_no_rivals() {
        assert_eq!(full_at(&[10.0]).window(), None);
        assert_eq!(full_at(&[10.0, 10.5, 11.4]).window(), None, "the same");
        assert_eq!(full_at(&[10.0, 270.0]).window(), None, "long ago");
    }

    #[test]
    fn a_queue_that_is_full_again_shows_rivals() {
        // 20 round trips of 9/17 of a segment each.
        let window = full_at(&[10.0, 30.0]).window().expect("rivals");
        assert!((window - (40.0 + 20.0 * 9.0 / 17.0)).abs() < 1e-9);
    }

    #[test]
    fn a_flow_that_has_no_more_than_its_backlog_in_a_full_queue_has_its_part() {
        let mut rivals = full_at(&[10.0]);
        acknowledge(&mut rivals, 30.0, true, false);
        assert_eq!(rivals.window(), None);
    }

    #[test]
    fn the_window_is_cubic_s_when_the_queue_is_full_again() {
        let mut rivals = full_at(&[10.0, 30.0]);
        let before = rivals.window().expect("rivals");
        rivals.refused(30.0);
        // A quarter of the reduction below the window at the reduction.
        let kept = rivals.window().expect("rivals");
        assert!((kept - (before - 0.3 * before / 4.0)).abs() < 1e-9);
        acknowledge(&mut rivals, 32.0, false, true);
        assert_eq!(rivals.window(), Some(kept), "not full");
        // The curve is flat K after the reduction, and C s³ higher s seconds later.
        let flat_at = libm::cbrt(0.3 * before / 0.4);
        acknowledge(&mut rivals, 30.0 + flat_at + 5.0, true, true);
        let grown = rivals.window().expect("rivals");
        assert!((grown - (before + 0.4 * 125.0)).abs() < 1e-9, "{grown}");
    }

    /// A recovery that takes many round trips is reported once, and losses in it with acknowledgements.
    #[test]
    fn the_window_falls_again_in_a_recovery_that_lasts() {
        let mut rivals = full_at(&[10.0, 30.0]);
        let before = rivals.window().expect("rivals");
        rivals.refused(30.0);
        for half in 0..=20 {
            rivals.refused_again(30.0 + 0.5 * f64::from(half), ROUND_TRIP);
        }
        let kept = rivals.window().expect("rivals");
        // At 30, 38.5 and 40 s.
        let left = libm::pow(1.0 - 0.3 / 4.0, 3.0);
        assert!((kept / before - left).abs() < 1e-9, "{kept}");
    }

    #[test]
    fn the_rivals_have_gone_after_twice_the_longest_time() {
        let mut rivals = full_at(&[10.0, 30.0, 33.0]);
        acknowledge(&mut rivals, 72.9, false, false);
        assert!(rivals.window().is_some());
        acknowledge(&mut rivals, 73.1, false, false);
        assert_eq!(rivals.window(), None);
    }
}
