use units::Instant;

use super::*;
use crate::event::QueueingTime;

/// Propagation delay in both directions together, in milliseconds.
const PROPAGATION: u64 = 100;

/// A connection over one bottleneck, in steps of a millisecond, to test the effect of the control on the queue.
struct Path {
    control: Waymark,
    now_ms: u64,
    /// The rate of the bottleneck, in segments per second.
    rate: f64,
    /// Segments queued there.
    queue: f64,
    /// Number of segments sent, and acknowledged.
    sent: f64,
    acked: u64,
    /// Acknowledgements in flight: arrival time, departure time of the segment, and its AQT.
    coming: Vec<(u64, u64, u64)>,
    /// Queueing time of acknowledgements on the backward path, in milliseconds.
    backward: u64,
    /// Every segment whose number is a multiple of this is lost behind the bottleneck. 0 means no losses.
    lossy: u64,
    lost: u64,
    /// Whether congestion is indicated with each acknowledgement.
    ci: bool,
    index: u8,
}

impl Path {
    fn new(rate: f64) -> Self {
        let limits = Limits {
            initial_window: 10.0,
            ..Limits::default()
        };
        Path {
            control: WaymarkConfig::default().build(&limits),
            now_ms: 0,
            rate,
            queue: 0.0,
            sent: 0.0,
            acked: 0,
            coming: Vec::new(),
            backward: 0,
            lossy: 0,
            lost: 0,
            ci: false,
            index: 3,
        }
    }

    fn run(&mut self, ms: u64) {
        for _ in 0..ms {
            self.step();
        }
    }

    fn step(&mut self) {
        self.now_ms += 1;
        self.queue = (self.queue - self.rate / 1e3).max(0.0);
        let due: Vec<_> = self
            .coming
            .extract_if(.., |coming| coming.0 <= self.now_ms)
            .collect();
        for (_, sent_ms, aqt_ms) in due {
            self.receive(sent_ms, aqt_ms);
        }
        let in_flight = self.sent.floor() - self.acked as f64;
        let before = self.sent.floor();
        if in_flight < self.control.cwnd() {
            self.sent += self.control.pacing_rate().unwrap_or(100.0) / 1e3;
        }
        for segment in before as u64..self.sent as u64 {
            self.control
                .on_sent(Instant::from_micros(1000 * self.now_ms), segment);
            self.queue += 1.0;
            let aqt_ms = ((self.queue - 1.0).max(0.0) / self.rate * 1e3) as u64;
            let back = self.now_ms + aqt_ms + PROPAGATION + self.backward;
            self.coming.push((back, self.now_ms, aqt_ms));
        }
    }

    fn receive(&mut self, sent_ms: u64, aqt_ms: u64) {
        self.acked += 1;
        let is_lost = self.lossy > 0 && self.acked.is_multiple_of(self.lossy);
        if is_lost {
            self.lost += 1;
            return;
        }
        let queueing = |ms| Some(QueueingTime::Exactly(Duration::from_millis(ms)));
        let ack = AckEvent {
            now: Instant::from_micros(1000 * self.now_ms),
            acked: self.acked,
            newly_acked: 1,
            next: self.sent as u64,
            in_flight: self.sent as u64 - self.acked,
            rtt: Some(Duration::from_millis(self.now_ms - sent_ms)),
            aqt_echo: queueing(aqt_ms),
            aqt_backward: queueing(self.backward),
            mrai: Some(self.index),
            ci_echo: self.ci,
            newly_delivered: 1,
            newly_lost: std::mem::take(&mut self.lost),
            ..AckEvent::default()
        };
        self.control.on_ack(&ack);
    }

    fn pace(&self) -> f64 {
        self.control.pacing_rate().expect("a rate")
    }
}

/// 1000 segments per second are 100 in flight. The initial rate is a tenth of it.
#[test]
fn it_comes_to_the_path_s_rate_with_a_short_queue() {
    let mut path = Path::new(1000.0);
    path.run(10_000);
    assert!((path.pace() - 1000.0).abs() < 30.0, "{}", path.pace());
    assert!(path.queue < 4.0, "{}", path.queue);
}

/// Eq. 3.4: the time that an acknowledgement waits on the backward path is not part of any measurement.
#[test]
fn a_congested_way_back_changes_nothing() {
    let mut path = Path::new(1000.0);
    path.run(10_000);
    path.backward = 150;
    path.run(2_000);
    assert!((path.pace() - 1000.0).abs() < 30.0, "{}", path.pace());
    assert!(path.queue < 4.0, "{}", path.queue);
}

/// Index 6: at most a third of the rate is used, so that three times as much fits; index 5: 7/4. The factor applies to
/// the sending rate when the reading was taken. At index 4, 8/7 fits; without a queue the flow also aims at b = 1/2 +
/// 225/64 · 1/2 segments in the round trip of .1 s, which is more here.
#[test]
fn the_index_says_by_how_much_the_rate_grows() {
    for (index, expected) in [(6, 300.0), (5, 175.0), (4, 122.578_125)] {
        let mut path = Path::new(1e6);
        path.index = index;
        // The first acknowledgements arrive 100 ms after the first segments. The rate is that of a window.
        path.run(250);
        assert_eq!(path.control.departures.pace(0.0), 100.0);
        let rate = path.pace();
        assert!((rate / expected - 1.0).abs() < 1e-9, "{index}: {rate}");
    }
}

/// The capacity falls from 1000 to 500 segments per second. Its effect arrives 100 ms later; 8 ms bring 4
/// segments less, and 5 are missing after 10 ms. A sixteenth of the round trip has 6 ms, an eighth 12 ms.
/// 150 segments of 1500 octets per second are 1.8 Mb/s.
#[test]
fn no_rate_exceeds_that_of_the_host_s_link() {
    let mut path = Path::new(1e6);
    path.index = 6;
    path.control = WaymarkConfig::default().build(&Limits {
        line_bps: Some(1.8e6),
        packet_octets: 1500,
        ..path.control.limits
    });
    path.run(250);
    assert_eq!(path.pace(), 150.0);
}

/// A connection whose first segment was queued for the given time, when it is acknowledged.
fn joined(index: u8, queueing_ms: u64) -> Path {
    let mut path = Path::new(1e6);
    path.index = index;
    path.sent = 10.0;
    path.now_ms = PROPAGATION + queueing_ms;
    path.receive(0, queueing_ms);
    path
}

/// The initial rate is 100 segments per second. Twice the window may be in flight unless there is a queue.
#[test]
fn behind_a_queue_a_window_is_in_flight_until_the_rate_of_arrival_is_known() {
    let window = |queueing_ms| joined(3, queueing_ms).control.cwnd();
    assert_eq!(window(0), 2.0 * 10.0 + FEW);
    // At twice the initial rate, .4 segments are queued in 2 ms.
    assert!((window(2) - (4.0 * 10.0 * 1.02 + FEW)).abs() < 1e-9);
    assert_eq!(window(6), 10.0);
    assert_eq!(window(90), 10.0);
}

/// Flows that have half a segment each in a queue of 4 ms send 125 segments per second.
#[test]
fn a_new_flow_sends_at_the_rate_of_the_flows_that_it_joins() {
    // At index 4 a link has capacity left: its flows do not fill it.
    for (index, queueing_ms, expected) in [
        (3, 0, 100.0),
        (3, 1, 200.0),
        (3, 4, 125.0),
        (3, 6, 100.0),
        (4, 4, 100.0),
    ] {
        let pace = joined(index, queueing_ms).pace();
        assert!((pace - expected).abs() < 1e-9, "{queueing_ms} ms: {pace}");
    }
}

/// Ten of its segments arrive per round trip of 150 ms, so that without the minimum the rate would be lower.
#[test]
fn a_new_flow_keeps_this_rate_for_four_round_trips() {
    let mut path = joined(3, 4);
    path.now_ms += 50;
    for round_trip in 1..=5 {
        path.sent += 10.0;
        for _ in 0..10 {
            path.now_ms += 15;
            path.receive(path.now_ms - 150, 50);
        }
        // The last acknowledgement ends the round trip.
        let keeps = (path.pace() - 125.0).abs() < 1e-9;
        assert_eq!(keeps, round_trip < 4, "{round_trip}: {}", path.pace());
    }
}

#[test]
fn a_fallen_rate_of_arrival_shows_by_four_missing_segments() {
    let mut path = Path::new(1000.0);
    path.run(10_000);
    let before = path.control.arrival_rate.expect("a rate");
    path.rate = 500.0;
    path.run(108);
    assert!(path.control.arrival_rate.expect("a rate") > 0.9 * before);
    path.run(17);
    let after = path.control.arrival_rate.expect("a rate");
    assert!(after < 0.75 * before, "{after}");
}

#[test]
fn losses_count_as_arrivals_unless_congestion_is_indicated() {
    let rate = |ci| {
        let mut path = Path::new(1000.0);
        path.run(10_000);
        (path.lossy, path.ci) = (10, ci);
        path.run(1_000);
        path.control.arrival_rate.expect("a rate")
    };
    assert!((rate(false) - 1000.0).abs() < 30.0, "{}", rate(false));
    assert!(rate(true) < 950.0, "{}", rate(true));
}

#[test]
fn half_of_the_rate_taken_away_is_given_up() {
    let mut path = Path::new(1000.0);
    path.run(10_000);
    path.rate = 500.0;
    path.run(2_000);
    assert!((path.pace() - 500.0).abs() < 30.0, "{}", path.pace());
    assert!(path.queue < 4.0, "{}", path.queue);
}

/// The queue is full twice in 5 s, so the window in competition with rivals would last for 10 s. But 200 ms after they
/// have gone there is no queue any more.
#[test]
fn a_path_without_a_queue_is_filled_also_after_rivals() {
    let mut path = Path::new(1000.0);
    path.run(10_000);
    path.rate = 300.0;
    for _ in 0..2 {
        path.run(5_000);
        path.queue += 20.0;
        path.ci = true;
        path.run(300);
        path.ci = false;
    }
    path.rate = 1000.0;
    path.run(2_000);
    assert!(path.control.rivals.window().is_some());
    assert!((path.pace() - 1000.0).abs() < 30.0, "{}", path.pace());
}

/// The pacing rate is halved, and kept until acknowledgements arrive.
#[test]
fn a_timeout_forgets_what_was_measured() {
    let mut path = Path::new(1000.0);
    path.run(10_000);
    let before = path.pace();
    path.control.on_timeout(&TimeoutEvent {
        now: Instant::from_micros(10_000_000),
        window: 10,
    });
    assert_eq!(path.pace(), before / 2.0);
    path.run(3_000);
    assert!((path.pace() - 1000.0).abs() < 30.0, "{}", path.pace());
}

/// Hops without marks: the excess over the minimum RTT is queueing.
#[test]
fn without_marks_it_goes_by_the_least_round_trip_time() {
    let mut control = WaymarkConfig::default().build(&Limits::default());
    let ack = |ms| AckEvent {
        now: Instant::from_micros(1000 * (1000 + ms)),
        rtt: Some(Duration::from_millis(ms)),
        newly_delivered: 1,
        ..AckEvent::default()
    };
    control.on_ack(&ack(100));
    control.on_ack(&ack(130));
    let Delays {
        forward, backward, ..
    } = control.delays;
    assert_eq!(control.delays.propagation(), Some(0.1));
    assert!(
        (forward - 0.03).abs() < 1e-9 && backward == 0.0,
        "{forward} {backward}"
    );
}

/// A long recovery acknowledges without round-trip times: only the mark reports the queueing time.
#[test]
fn the_queueing_time_is_the_mark_s_where_there_is_no_round_trip_time() {
    let mut control = WaymarkConfig::default().build(&Limits::default());
    let ack = |ms: u64, rtt, aqt_ms| AckEvent {
        now: Instant::from_micros(1000 * ms),
        rtt,
        aqt_echo: Some(QueueingTime::Exactly(Duration::from_millis(aqt_ms))),
        newly_delivered: 1,
        ..AckEvent::default()
    };
    control.on_ack(&ack(1000, Some(Duration::from_millis(130)), 30));
    assert!((control.delays.forward - 0.03).abs() < 1e-9);
    control.on_ack(&ack(1100, None, 5));
    assert!((control.delays.forward - 0.005).abs() < 1e-9);
    assert_eq!(control.delays.propagation(), Some(0.1));
}

/// β is 2 instead of 1/2.
#[test]
fn where_hops_may_be_silent_more_waits() {
    let waiting = |deployment| {
        let config = WaymarkConfig {
            deployment,
            ..WaymarkConfig::default()
        };
        let mut path = Path::new(1000.0);
        path.control = config.build(&path.control.limits);
        path.run(10_000);
        path.queue
    };
    let more = waiting(Deployment::Gradual) - waiting(Deployment::Full);
    assert!((1.0..=2.0).contains(&more), "{more}");
}
