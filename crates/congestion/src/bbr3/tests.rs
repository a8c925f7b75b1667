use super::*;
use crate::event::RateSample;

const MS: u64 = 1000;

fn bbr() -> Bbr3 {
    Bbr3Config {}.build(&Limits {
        initial_window: 10.0,
        ..Limits::default()
    })
}

/// A sample with a round trip of 100 ms. `prior` segments had been delivered when its segment was sent, with as many in
/// flight.
fn sample(prior: u64, delivered: u64, lost: u64) -> RateSample {
    RateSample {
        delivered,
        interval: Duration::from_millis(100),
        prior_delivered: prior,
        total_delivered: prior + delivered,
        prior_in_flight: delivered,
        lost,
        rtt: Duration::from_millis(100),
        app_limited: false,
    }
}

fn ack(at_us: u64, rate: RateSample, newly_lost: u64) -> AckEvent {
    AckEvent {
        now: Instant::from_micros(at_us),
        newly_acked: 1,
        newly_delivered: 1,
        newly_lost,
        in_flight: rate.prior_in_flight,
        rtt: Some(rate.rtt),
        rate: Some(rate),
        ..AckEvent::default()
    }
}

/// Simulates round trips, each of which delivers the same number of segments.
struct Rounds {
    bbr: Bbr3,
    at_us: u64,
    delivered: u64,
}

impl Rounds {
    fn new() -> Self {
        Rounds {
            bbr: bbr(),
            at_us: 0,
            delivered: 0,
        }
    }

    /// In ProbeRTT half as many are in flight.
    fn round(&mut self, segments: u64, lost: u64) -> State {
        let segments = match self.bbr.state() {
            State::ProbeRtt { .. } => segments / 2,
            _ => segments,
        };
        self.at_us += 100 * MS;
        let rate = sample(self.delivered, segments, lost);
        self.delivered += segments;
        self.bbr.on_ack(&ack(self.at_us, rate, lost));
        self.bbr.state()
    }

    /// Runs until the pipe is detected as full, and a phase begins.
    fn until(&mut self, segments: u64, wanted: State) {
        for _ in 0..60 {
            if self.round(segments, 0) == wanted {
                return;
            }
        }
        panic!("{:?}", self.bbr.state());
    }
}

#[test]
fn startup_ends_after_three_rounds_without_a_quarter_more() {
    let mut rounds = Rounds::new();
    assert_eq!(rounds.round(10, 0), State::Startup);
    // 100 ms and 10 segments, at 2.773 times the 1/0.1 s.
    assert_eq!(rounds.bbr.pacing_rate(), Some(2.773 * 10.0 / 0.1));
    for segments in [20, 40, 49, 49] {
        assert_eq!(rounds.round(segments, 0), State::Startup);
    }
    // 49 is less than 40 · 1.25 for the third time in a row. No more is in flight than the pipe holds, so there is
    // nothing to drain.
    assert_eq!(rounds.round(49, 0), State::Cruise);
    let rate = rounds.bbr.pacing_rate().unwrap();
    assert!((rate - 490.0 * 0.99).abs() < 1e-9, "{rate}");
}

#[test]
fn losses_bound_rate_and_flight_until_the_next_probe() {
    let mut rounds = Rounds::new();
    rounds.until(100, State::Cruise);
    assert_eq!(rounds.bbr.bandwidth(), 1000.0);
    rounds.bbr.cwnd = 100.0;
    // The round before the loss delivered 100, which is known to be safe.
    rounds.round(40, 1);
    rounds.round(40, 0);
    assert_eq!(rounds.bbr.bandwidth(), 1000.0);
    assert_eq!(rounds.bbr.model.short_term(), 100.0);
    // Another loss: 70 % of both bounds, or the delivered amount if that is larger.
    rounds.round(40, 1);
    rounds.round(40, 0);
    assert_eq!(rounds.bbr.bandwidth(), 700.0);
    assert_eq!(rounds.bbr.model.short_term(), 70.0);
    rounds.round(60, 1);
    rounds.round(60, 0);
    // 60 in 100 ms are more than 490 a second, and than 49.
    assert_eq!(rounds.bbr.bandwidth(), 600.0);
    assert_eq!(rounds.bbr.model.short_term(), 60.0);
    assert!(rounds.bbr.cwnd() <= 60.0);
    rounds.until(60, State::Refill);
    assert_eq!(rounds.bbr.bandwidth(), 1000.0);
    assert_eq!(rounds.bbr.model.short_term(), f64::INFINITY);
}

#[test]
fn a_probe_ends_with_losses_of_more_than_2_percent() {
    for (lost, state) in [(2, State::Up), (3, State::Down)] {
        let mut rounds = Rounds::new();
        rounds.until(100, State::Up);
        assert_eq!(rounds.round(100, lost), state, "{lost} of 100");
        let bound = rounds.bbr.model.long_term();
        match state {
            State::Up => assert_eq!(bound, f64::INFINITY),
            _ => assert_eq!(bound, 100.0),
        }
    }
}

#[test]
fn a_bound_leaves_15_percent_to_others() {
    let mut bbr = bbr();
    let with = |bbr: &mut Bbr3, bound| {
        bbr.model.set_long_term(bound);
        bbr.inflight_with_headroom()
    };
    assert_eq!(with(&mut bbr, f64::INFINITY), f64::INFINITY);
    assert_eq!(with(&mut bbr, 100.0), 85.0);
    // At least one segment, down to the minimum window.
    assert_eq!([with(&mut bbr, 6.0), with(&mut bbr, 4.5)], [5.0, 4.0]);
}

/// 40 acknowledged segments for the first increment, then 20 and 10 for each.
#[test]
fn the_slope_of_the_bound_doubles() {
    let mut bbr = bbr();
    bbr.cwnd = 40.0;
    let counts = [0; 3].map(|_| {
        bbr.raise_slope();
        bbr.up_count
    });
    assert_eq!(counts, [40.0, 20.0, 10.0]);
    bbr.model.set_long_term(40.0);
    let full = |newly_delivered| AckEvent {
        newly_delivered,
        ..AckEvent::default()
    };
    bbr.probe_long_term_upward(&full(25));
    assert_eq!((bbr.model.long_term(), bbr.up_acked), (42.0, 5.0));
    // Not while the window is not full.
    bbr.probe_long_term_upward(&AckEvent {
        window_unused: true,
        ..full(25)
    });
    assert_eq!(bbr.model.long_term(), 42.0);
}

#[test]
fn flows_of_reno_get_a_probe_in_as_many_rounds_as_segments_are_in_flight() {
    let mut rounds = Rounds::new();
    rounds.until(8, State::Down);
    let begun = rounds.at_us;
    rounds.until(8, State::Refill);
    // 8 rounds, or one less; 2 s and more would be 20.
    let waited = (rounds.at_us - begun) / (100 * MS);
    assert!((7..=8).contains(&waited), "{waited}");
}

#[test]
fn probe_rtt_leaves_half_of_the_pipe_every_five_seconds() {
    let mut rounds = Rounds::new();
    rounds.until(100, State::Cruise);
    let mut in_probe_rtt = 0;
    while rounds.at_us < 6_000 * MS {
        if let State::ProbeRtt { .. } = rounds.round(100, 0) {
            in_probe_rtt += 1;
            assert!(rounds.bbr.cwnd() <= 50.0, "{}", rounds.bbr.cwnd());
        }
    }
    // 200 ms after the data in flight is small, and at least one round.
    assert!((3..=5).contains(&in_probe_rtt), "{in_probe_rtt}");
    // Application-limited samples did not lower the estimate.
    assert_eq!(rounds.bbr.model.max_bandwidth(), 1000.0);
}

#[test]
fn the_best_of_two_cycles_is_the_bandwidth() {
    let mut rounds = Rounds::new();
    rounds.until(100, State::Cruise);
    for _ in 0..2 {
        rounds.until(50, State::Down);
    }
    rounds.round(50, 0);
    assert_eq!(rounds.bbr.model.max_bandwidth(), 500.0);
}

#[test]
fn startup_ends_with_six_losses_of_more_than_2_percent_in_a_round_of_recovery() {
    for (losses, ends) in [(5, false), (6, true)] {
        let mut rounds = Rounds::new();
        rounds.round(10, 0);
        rounds.round(20, 0);
        rounds.bbr.on_loss(&LossEvent {
            now: Instant::ZERO,
            evidence: crate::event::Evidence::Time,
            lost: 0,
            sent_at: None,
            transmissions: 1,
            duplicates: 0,
            window: 20,
        });
        for _ in 0..losses {
            let within = RateSample {
                prior_delivered: 11,
                total_delivered: rounds.delivered,
                ..sample(11, 20, 1)
            };
            rounds.bbr.on_ack(&ack(rounds.at_us + 1, within, 1));
        }
        rounds.round(40, 0);
        assert_eq!(rounds.bbr.model.is_full(), ends, "{losses}");
    }
}

#[test]
fn a_probe_after_one_with_losses_stops_at_its_bound_and_the_next_follows_at_once() {
    let mut rounds = Rounds::new();
    rounds.until(100, State::Up);
    assert_eq!(rounds.round(100, 3), State::Down);
    rounds.until(100, State::Up);
    assert_eq!(rounds.round(100, 0), State::Down);
    assert_eq!(rounds.round(100, 0), State::Refill);
    rounds.until(100, State::Up);
    // This one continues until the pipe is detected as full.
    assert_eq!(rounds.round(100, 0), State::Up);
}
