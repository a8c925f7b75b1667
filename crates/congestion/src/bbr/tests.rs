use std::collections::VecDeque;

use super::*;
use crate::event::RateSample;
use crate::sawtooth::lose;

/// A bottleneck with an unlimited queue, and a sender that obeys window and pacing rate.
struct Path {
    bbr: Bbr,
    /// Segments per second.
    rate: f64,
    /// In seconds.
    delay: f64,
    now: f64,
    next_send: f64,
    /// When the bottleneck becomes idle.
    idle: f64,
    flight: VecDeque<Sent>,
    sent: u64,
    delivered: u64,
    delivered_at: f64,
    first_sent: f64,
}

/// A segment in flight, and the state when it was sent (draft-cheng-iccrg-delivery-rate-estimation).
struct Sent {
    at: f64,
    acked_at: f64,
    delivered: u64,
    delivered_at: f64,
    first_sent: f64,
}

impl Path {
    fn new(rate: f64, delay: f64) -> Self {
        Path {
            bbr: BbrConfig {}.build(&Limits {
                initial_window: 10.0,
                initial_ssthresh: 1e9,
                max_cwnd: None,
                ..Limits::default()
            }),
            rate,
            delay,
            now: 0.0,
            next_send: 0.0,
            idle: 0.0,
            flight: VecDeque::new(),
            sent: 0,
            delivered: 0,
            delivered_at: 0.0,
            first_sent: 0.0,
        }
    }

    /// Sends one segment or handles the arrival of one acknowledgement.
    fn step(&mut self) {
        let ack_at = self
            .flight
            .front()
            .map_or(f64::INFINITY, |sent| sent.acked_at);
        let may_send = (self.flight.len() as f64) < self.bbr.cwnd().floor();
        let send_at = self.next_send.max(self.now);
        if may_send && send_at <= ack_at {
            self.now = send_at;
            self.send();
        } else {
            self.now = ack_at;
            self.acknowledge();
        }
    }

    fn send(&mut self) {
        if self.flight.is_empty() {
            self.first_sent = self.now;
            self.delivered_at = self.now;
        }
        self.idle = self.idle.max(self.now) + 1.0 / self.rate;
        self.flight.push_back(Sent {
            at: self.now,
            acked_at: self.idle + self.delay,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
        });
        self.sent += 1;
        self.next_send = self.now + self.bbr.pacing_rate().map_or(0.0, |rate| 1.0 / rate);
    }

    fn acknowledge(&mut self) {
        let sent = self
            .flight
            .pop_front()
            .expect("an acknowledgement of something");
        self.delivered += 1;
        self.delivered_at = self.now;
        self.first_sent = sent.at;
        let interval = (sent.at - sent.first_sent).max(self.now - sent.delivered_at);
        let rtt = Duration::from_secs_f64(self.now - sent.at);
        self.bbr.on_ack(&AckEvent {
            now: Instant::from_secs_f64(self.now),
            acked: self.delivered,
            newly_acked: 1,
            next: self.sent,
            in_flight: self.flight.len() as u64,
            rtt: Some(rtt),
            newly_delivered: 1,
            rate: Some(RateSample {
                delivered: self.delivered - sent.delivered,
                interval: Duration::from_secs_f64(interval),
                prior_delivered: sent.delivered,
                total_delivered: self.delivered,
                prior_in_flight: 0,
                lost: 0,
                rtt,
                app_limited: false,
            }),
            ..AckEvent::default()
        });
    }

    fn run_until(&mut self, time: f64) {
        while self.now < time {
            self.step();
        }
    }

    /// The queueing delay at the bottleneck, in seconds.
    fn queue(&self) -> f64 {
        (self.idle - self.now).max(0.0)
    }
}

#[test]
fn it_finds_the_paths_rate_and_delay() {
    // 1000 segments per second, 50 ms, and 1 ms of serialisation delay in the RTT: a pipe of 51 segments.
    let mut path = Path::new(1000.0, 0.05);
    path.run_until(2.0);
    assert!(matches!(path.bbr.state(), State::ProbeBw { .. }));
    assert!(
        (path.bbr.bandwidth() - 1000.0).abs() < 20.0,
        "{}",
        path.bbr.bandwidth()
    );
    let rt_prop = path.bbr.model.rt_prop().unwrap();
    assert!((rt_prop - 0.051).abs() < 1e-6, "{rt_prop}");
    // §4.2.3: cwnd = 2·BDP + 3·send quantum.
    assert!(
        (path.bbr.cwnd() - (2.0 * 51.0 + 6.0)).abs() < 3.0,
        "{}",
        path.bbr.cwnd()
    );
}

#[test]
fn the_link_is_full_and_its_queue_short() {
    let mut path = Path::new(1000.0, 0.05);
    path.run_until(2.0);
    let before = path.delivered;
    let mut longest = 0_f64;
    while path.now < 7.0 {
        path.step();
        longest = longest.max(path.queue());
    }
    let rate = (path.delivered - before) as f64 / 5.0;
    assert!(rate > 980.0, "{rate}");
    // A quarter faster for an RTT queues a quarter of an RTT.
    assert!(longest < 0.05 / 4.0 + 0.01, "{longest}");
}

#[test]
fn startup_doubles_every_round_and_stops_when_that_brings_no_more() {
    let mut path = Path::new(1000.0, 0.05);
    while path.bbr.state() == State::Startup {
        path.step();
    }
    // From 10 to 51 segments: three round trips of 51 ms. Four more detect that the pipe is full. With up to cwnd =
    // 2.885·51 in flight they last up to 147 ms each.
    assert!((0.3..0.75).contains(&path.now), "{}", path.now);
    assert_eq!(path.bbr.state(), State::Drain);
    assert!((path.bbr.pacing_rate().unwrap() - path.bbr.bandwidth() / HIGH_GAIN).abs() < 1e-6);
    while path.bbr.state() == State::Drain {
        path.step();
    }
    assert!(path.flight.len() as f64 <= path.bbr.inflight(1.0));
}

#[test]
fn every_ten_seconds_four_segments_are_left_for_200_ms() {
    let mut path = Path::new(1000.0, 0.05);
    path.run_until(1.0);
    let probing = |path: &Path| matches!(path.bbr.state(), State::ProbeRtt { .. });
    // The first RTT sample is the minimum, or one of the phases of 3/4 matches it again.
    while !probing(&path) {
        path.step();
        assert!(path.now < 25.0);
    }
    let begun = path.now;
    let before = path.bbr.prior_cwnd;
    while probing(&path) {
        assert!(path.bbr.cwnd() <= MIN_PIPE_CWND);
        path.step();
    }
    let lasted = path.now - begun;
    assert!((0.2..0.4).contains(&lasted), "{lasted}");
    assert!(path.bbr.cwnd() >= before);
}

#[test]
fn on_a_short_path_the_200_ms_do_not_count_for_the_bandwidth() {
    // 1 ms: a hundred round trips of four segments in ProbeRTT.
    let mut path = Path::new(10_000.0, 0.001);
    let probing = |path: &Path| matches!(path.bbr.state(), State::ProbeRtt { .. });
    while !probing(&path) {
        path.step();
        assert!(path.now < 25.0);
    }
    while probing(&path) {
        path.step();
    }
    let bandwidth = path.bbr.bandwidth();
    assert!(bandwidth > 9_900.0, "{bandwidth}");
    path.run_until(path.now + 0.1);
    assert!(path.bbr.bandwidth() > 9_900.0);
}

#[test]
fn a_path_that_got_slower_is_believed_after_ten_rounds() {
    let mut path = Path::new(1000.0, 0.05);
    path.run_until(3.0);
    path.rate = 500.0;
    path.run_until(6.0);
    assert!(
        (path.bbr.bandwidth() - 500.0).abs() < 15.0,
        "{}",
        path.bbr.bandwidth()
    );
}

#[test]
fn a_recovery_conserves_packets_and_gives_the_window_back() {
    let mut path = Path::new(1000.0, 0.05);
    path.run_until(2.0);
    let cwnd = path.bbr.cwnd();
    let in_flight = path.flight.len() as f64;
    lose(&mut path.bbr, Instant::from_secs_f64(path.now), cwnd as u64);
    assert!((path.bbr.cwnd() - in_flight).abs() <= 2.0);
    assert!(path.bbr.conserving);
    path.run_until(path.now + 0.2);
    assert!(!path.bbr.conserving);
    path.bbr.on_recovered(Instant::from_secs_f64(path.now));
    assert!(path.bbr.cwnd() >= cwnd);
    path.bbr.on_timeout(&TimeoutEvent {
        now: Instant::from_secs_f64(path.now),
        window: 50,
    });
    assert_eq!(path.bbr.cwnd(), 1.0);
}
