use units::{Duration, Instant};

use super::*;
use crate::event::QueueingTime;

fn us(us: u64) -> Duration {
    Duration::from_micros(us)
}

fn exactly(time: u64) -> Option<QueueingTime> {
    Some(QueueingTime::Exactly(us(time)))
}

/// Acknowledgements of one segment each at full window, with the given marks.
struct Path {
    rovegas: RoVegas,
    now: Instant,
    acked: u64,
    window: u64,
}

impl Path {
    /// The first segment was acknowledged after `rtt_us`, including forward and backward queueing.
    fn start(deployment: Deployment, rtt_us: u64, forward_us: u64, backward_us: u64) -> Path {
        let config = RoVegasConfig {
            deployment,
            ..RoVegasConfig::default()
        };
        let mut rovegas = config.build(&Limits {
            initial_ssthresh: 0.0,
            ..Limits::default()
        });
        rovegas.on_sent(Instant::ZERO, 0);
        let mut path = Path {
            rovegas,
            now: Instant::ZERO + us(rtt_us),
            acked: 0,
            window: 0,
        };
        path.answer(None, exactly(forward_us), exactly(backward_us));
        path.window = 10;
        path
    }

    fn answer(
        &mut self,
        rtt: Option<Duration>,
        forward: Option<QueueingTime>,
        backward: Option<QueueingTime>,
    ) {
        self.acked += 1;
        let next = self.acked.max((self.acked + self.window).saturating_sub(1));
        self.rovegas.on_ack(&AckEvent {
            now: self.now,
            acked: self.acked,
            newly_acked: 1,
            next,
            in_flight: next - self.acked,
            rtt,
            aqt_echo: forward,
            aqt_backward: backward,
            ..AckEvent::default()
        });
        (self.acked..next + 1).for_each(|segment| self.rovegas.on_sent(self.now, segment));
    }

    /// Identical rounds of ten segments, until the mean and base have converged.
    fn rounds(
        &mut self,
        rtt_us: u64,
        forward: Option<QueueingTime>,
        backward: Option<QueueingTime>,
    ) {
        self.now += us(rtt_us);
        for _ in 0..30 {
            self.now += us(rtt_us / 10);
            self.answer(Some(us(rtt_us)), forward, backward);
        }
    }

    fn base_us(&self) -> u64 {
        let nanos = self.rovegas.snapshot().base_rtt.unwrap().as_nanos();
        (nanos + 500) / 1000
    }

    fn diff(&self) -> f64 {
        self.rovegas.snapshot().diff.unwrap()
    }
}

#[test]
fn base_is_what_is_left_without_queueing() {
    // (3.4): 150 − (20 + 30) = 100 ms.
    assert_eq!(
        Path::start(Deployment::Full, 150_000, 20_000, 30_000).base_us(),
        100_000
    );
}

#[test]
fn backward_queueing_does_not_count_against_the_flow() {
    // RTT 200 ms, of which 100 ms is backward queueing: Actual' = 10/0.1 (3.3), Diff = (10/0.1 − 10/0.1)·0.1 = 0.
    let mut path = Path::start(Deployment::Full, 100_000, 0, 0);
    path.rounds(200_000, exactly(0), exactly(100_000));
    assert!(path.diff().abs() < 1e-6, "{}", path.diff());
    // The same with forward queueing: Diff = (10/0.1 − 10/0.2)·0.1 = 5.
    path.rounds(200_000, exactly(100_000), exactly(0));
    assert!((path.diff() - 5.0).abs() < 1e-6, "{}", path.diff());
}

#[test]
fn full_deployment_follows_a_reroute_to_a_longer_path() {
    let mut path = Path::start(Deployment::Full, 100_000, 0, 0);
    path.rounds(190_000, exactly(30_000), exactly(10_000));
    assert_eq!(path.base_us(), 150_000);
}

#[test]
fn gradual_deployment_keeps_the_minimum() {
    let mut path = Path::start(Deployment::Gradual, 100_000, 0, 0);
    path.rounds(190_000, exactly(30_000), exactly(10_000));
    assert_eq!(path.base_us(), 100_000);
    path.rounds(120_000, exactly(30_000), exactly(10_000));
    assert_eq!(path.base_us(), 80_000);
}

#[test]
fn no_option_means_vegas_own_rules() {
    let mut path = Path::start(Deployment::Full, 100_000, 0, 0);
    path.rounds(190_000, None, None);
    assert_eq!(path.base_us(), 100_000);
    path.rounds(90_000, None, None);
    assert_eq!(path.base_us(), 90_000);
    assert!(path.diff().abs() < 1e-6);
}

#[test]
fn a_saturated_mark_derives_no_base() {
    let mut path = Path::start(Deployment::Full, 100_000, 0, 0);
    let saturated = Some(QueueingTime::AtLeast(us(0xFF_FFFF)));
    path.rounds(190_000, saturated, exactly(0));
    assert_eq!(path.base_us(), 100_000);
    path.rounds(190_000, exactly(0), saturated);
    assert_eq!(path.base_us(), 100_000);
    assert!(path.rovegas.cwnd().is_finite());
}

#[test]
fn a_mark_beyond_the_rtt_is_not_believed() {
    let mut path = Path::start(Deployment::Full, 100_000, 0, 0);
    path.rounds(190_000, exactly(200_000), exactly(200_000));
    assert_eq!(path.base_us(), 100_000);
    assert!(path.diff().is_finite());
}

/// A window that is always full, on a path of arbitrary delay.
#[derive(Default)]
struct Pipe {
    now: Instant,
    acked: u64,
    /// When the segments in flight were sent.
    sent: std::collections::VecDeque<Instant>,
}

impl Pipe {
    fn acknowledge(&mut self, rtt: Duration) -> AckEvent {
        let sent = self.sent.pop_front().unwrap();
        self.now = self.now.max(sent + rtt);
        self.acked += 1;
        let in_flight = self.sent.len() as u64;
        AckEvent {
            now: self.now,
            acked: self.acked,
            newly_acked: 1,
            next: self.acked + in_flight,
            in_flight,
            rtt: (self.acked > 1).then(|| self.now.since(sent)),
            ..AckEvent::default()
        }
    }

    fn fill(&mut self, controllers: [&mut dyn Controller; 2]) {
        let first = self.acked + self.sent.len() as u64;
        let segments = first..(self.acked + controllers[0].cwnd() as u64).max(first);
        self.sent.extend(segments.clone().map(|_| self.now));
        for controller in controllers {
            segments
                .clone()
                .for_each(|segment| controller.on_sent(self.now, segment));
        }
    }
}

#[test]
fn marks_of_zero_leave_vegas() {
    // With AQT 0, gradual deployment's minimum of (3.4) equals Vegas' own, and a full window grows in both. Only Vegas
    // takes the RTT of a round of one segment as base, so the first rounds here show only the lowest RTT. Then the RTT
    // is constant, because Vegas takes the mean of a round, RoVegas the newest value.
    let vegas = VegasConfig::default();
    let rovegas = RoVegasConfig {
        vegas,
        deployment: Deployment::Gradual,
    };
    let mut plain = vegas.build(&Limits::default());
    let mut marked = rovegas.build(&Limits::default());
    let mut pipe = Pipe::default();
    pipe.fill([&mut plain, &mut marked]);
    let mut windows = Vec::new();
    for step in 0..4000 {
        let queueing = if step < 2 { 0 } else { 2000 };
        let ack = pipe.acknowledge(us(100_000 + queueing));
        plain.on_ack(&ack);
        marked.on_ack(&AckEvent {
            aqt_echo: exactly(0),
            aqt_backward: exactly(0),
            ..ack
        });
        assert_eq!(plain.cwnd(), marked.cwnd(), "step {step}");
        assert_eq!(plain.ssthresh(), marked.ssthresh(), "step {step}");
        pipe.fill([&mut plain, &mut marked]);
        windows.push(plain.cwnd() as u64);
    }
    let highest = windows.iter().max().unwrap();
    assert!(
        *highest > 20 && plain.ssthresh() == 2.0,
        "both phases were seen, up to {highest}"
    );
}
