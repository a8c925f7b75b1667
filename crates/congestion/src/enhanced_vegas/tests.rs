use units::{Duration, Instant};

use super::*;

/// A path of 40 ms forward and 60 ms backward, whose receiver's clock is 7 s ahead and drifts.
struct Path {
    stamps: Stamps,
    drift: f64,
}

impl Path {
    fn new(drift: f64, skew_correction: bool) -> Self {
        let config = EnhancedVegasConfig {
            skew_correction,
            ..EnhancedVegasConfig::default()
        };
        Path {
            stamps: config.build(&Limits::default()).meter().clone(),
            drift,
        }
    }

    /// An acknowledgement at `at` seconds, after these queueing times forward and backward.
    fn sample(&mut self, at: f64, forward: f64, backward: f64) {
        let offset = 7.0 + self.drift * at;
        let ns = |seconds: f64| (seconds * 1e9).round() as i64;
        let ack = AckEvent {
            now: Instant::ZERO + Duration::from_secs_f64(at),
            ts_forward: Some(ns(0.04 + forward + offset)),
            ts_backward: Some(ns(0.06 + backward - offset)),
            ..AckEvent::default()
        };
        self.stamps.sample(0.1 + forward + backward, &ack);
    }

    fn close(&mut self) -> (f64, f64) {
        let measured = self.stamps.close(None, 10, &AckEvent::default()).unwrap();
        (measured.base, measured.rtt)
    }
}

fn near((a, b): (f64, f64), (x, y): (f64, f64)) {
    assert!(
        (a - x).abs() < 1e-6 && (b - y).abs() < 1e-6,
        "{a} {b}, expected {x} {y}"
    );
}

#[test]
fn base_is_the_sum_of_the_shortest_trips_though_none_came_together() {
    // (4.3): 40 + 60 ms; one sample was queued forward, the other backward. (4.1): of the newest
    // RTT, 110 ms, nothing is QT_b.
    let mut path = Path::new(0.0, true);
    path.sample(1.0, 0.0, 0.03);
    path.sample(1.1, 0.01, 0.0);
    let _ = path.close();
    path.sample(1.2, 0.0, 0.03);
    path.sample(1.3, 0.01, 0.0);
    near(path.close(), (0.1, 0.11));
}

#[test]
fn backward_queueing_is_taken_off_and_forward_queueing_is_not() {
    // (4.4): QT_b = 50 ms of an RTT of 150 ms; then the same forward.
    let mut path = Path::new(0.0, true);
    path.sample(1.0, 0.0, 0.0);
    let _ = path.close();
    path.sample(1.2, 0.0, 0.05);
    near(path.close(), (0.1, 0.1));
    path.sample(1.4, 0.05, 0.0);
    near(path.close(), (0.1, 0.15));
}

#[test]
fn a_drift_is_taken_for_queueing_unless_corrected() {
    // 1 ms per second: after 20 s, the uncorrected forward minimum is 20 ms too low, or the
    // backward minimum is too high.
    for (correction, wrong_by) in [(true, 0.0), (false, 0.02)] {
        let mut path = Path::new(-1e-3, correction);
        (0..=2000).for_each(|i| path.sample(f64::from(i) * 0.01, 0.0, 0.0));
        let _ = path.close();
        path.sample(20.01, 0.0, 0.0);
        let (_, rtt) = path.close();
        assert!((0.1 - rtt - wrong_by).abs() < 2e-4, "{correction}: {rtt}");
    }
}
