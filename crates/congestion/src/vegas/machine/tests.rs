use super::super::{Quirks, Vegas};
use super::*;
use crate::enhanced_vegas::EnhancedVegasConfig;
use crate::event::Evidence;
use crate::rovegas::RoVegasConfig;

fn ms(ms: u64) -> Instant {
    Instant::from_micros(1000 * ms)
}

/// A Vegas whose first segment took 100 ms, in slow start with window 1.
fn started(quirks: Quirks) -> Vegas {
    let mut vegas = VegasConfig {
        quirks,
        ..VegasConfig::default()
    }
    .build(&Limits::default());
    vegas.on_sent(ms(0), 0);
    vegas.on_ack(&AckEvent {
        now: ms(100),
        acked: 1,
        newly_acked: 1,
        next: 1,
        ..AckEvent::default()
    });
    vegas
}

/// The same in congestion avoidance with window 10, ten segments in flight since 1 s, the first of them marked.
fn avoiding() -> Vegas {
    let mut vegas = started(Quirks::NS2);
    (vegas.cwnd, vegas.ssthresh) = (10.0, 2.0);
    (10..20).for_each(|segment| vegas.on_sent(ms(1000), segment));
    vegas.round = Some(Round {
        mark: 10,
        start: ms(1000),
        start_s: 0.0,
        stale: false,
    });
    vegas
}

/// The acknowledgement that ends the round of [`avoiding`] after `rtt_ms`: ten segments were sent in it, W_out 10.
fn end_of_round(rtt_ms: u64) -> AckEvent {
    AckEvent {
        now: ms(1000 + rtt_ms),
        acked: 11,
        newly_acked: 1,
        next: 20,
        in_flight: 9,
        rtt: Some(Duration::from_millis(rtt_ms)),
        ..AckEvent::default()
    }
}

/// An acknowledgement that ends a round of `window` segments with half a segment queued, for `queued_us`: window (RTT -
/// base) / RTT = 1/2. Returns whether the window grows then.
fn grows_with_half_a_segment(window: u64, queued_us: u64) -> bool {
    let mut vegas = avoiding();
    vegas.config.quirks.fixed_point = true;
    vegas.cwnd = window as f64;
    let rtt_us = 2 * window * queued_us;
    vegas.meter.set_base((rtt_us - queued_us) as f64 / 1e6);
    vegas.on_ack(&AckEvent {
        now: Instant::from_micros(1_000_000 + rtt_us),
        acked: 11,
        newly_acked: 1,
        next: 10 + window,
        in_flight: window - 1,
        rtt: Some(Duration::from_micros(rtt_us)),
        ..AckEvent::default()
    });
    vegas.increment > 0.0
}

fn loss(window: u64, transmissions: u32, sent_ms: Option<u64>) -> LossEvent {
    LossEvent {
        now: ms(2000),
        evidence: Evidence::Duplicates,
        lost: 11,
        sent_at: sent_ms.map(ms),
        transmissions,
        duplicates: 3,
        window,
    }
}

#[test]
fn diff_between_alpha_and_beta_keeps_the_window() {
    // Chan (2.1), base 100 ms, RTT 125 ms: (10/0.1 − 10/0.125)·0.1 = 2.
    let mut vegas = avoiding();
    vegas.on_ack(&end_of_round(125));
    assert_eq!(vegas.cwnd(), 10.0);
    assert!((vegas.snapshot().diff.unwrap() - 2.0).abs() < 1e-9);
}

#[test]
fn diff_above_beta_takes_one_segment_at_once() {
    // (2.1), RTT 200 ms: (100 − 50)·0.1 = 5 > 3; (2.2): cwnd − 1.
    let mut vegas = avoiding();
    vegas.on_ack(&end_of_round(200));
    assert_eq!(vegas.cwnd(), 9.0);
}

#[test]
fn diff_below_alpha_adds_a_frozen_fraction_per_acknowledgement() {
    // (2.1), RTT 103 ms: (100 − 97.09)·0.1 = 0.29, rounded 0 < 1; (2.2): + 1 over the round.
    let mut vegas = avoiding();
    vegas.on_ack(&end_of_round(103));
    assert_eq!(vegas.cwnd(), 10.1);
    vegas.on_ack(&AckEvent {
        acked: 12,
        next: 21,
        ..end_of_round(103)
    });
    assert_eq!(vegas.cwnd(), 10.1 + 0.1);
}

#[test]
fn diff_is_rounded_to_whole_segments() {
    // (2.1), RTT 152 ms: (100 − 65.79)·0.1 = 3.42, rounded 3, not above β; RTT 155 ms: 3.55,
    // rounded 4.
    for (rtt_ms, cwnd) in [(152, 10.0), (155, 9.0)] {
        let mut vegas = avoiding();
        vegas.on_ack(&end_of_round(rtt_ms));
        assert_eq!(vegas.cwnd(), cwnd, "RTT {rtt_ms} ms");
    }
}

#[test]
fn half_a_segment_is_one_in_fixed_point() {
    // In floating point, every other one of these is smaller.
    for window in 2..150 {
        for queued_us in 100..200 {
            let grows = grows_with_half_a_segment(window, queued_us);
            assert!(!grows, "{window} segments, {queued_us} µs");
        }
    }
}

#[test]
fn the_mean_of_a_round_s_samples_counts_not_the_last() {
    // Samples 120 and 280 ms: mean 200 ms, Δ = 5. The sample of the round's last ACK belongs to the next round.
    let mut vegas = avoiding();
    vegas.round = Some(Round {
        mark: 12,
        start: ms(1000),
        start_s: 0.0,
        stale: false,
    });
    vegas.on_ack(&end_of_round(120));
    vegas.on_ack(&AckEvent {
        acked: 12,
        ..end_of_round(280)
    });
    assert_eq!(vegas.cwnd(), 10.0);
    vegas.on_ack(&AckEvent {
        acked: 13,
        next: 22,
        ..end_of_round(100)
    });
    assert_eq!(vegas.cwnd(), 9.0);
}

#[test]
fn slow_start_grows_in_every_other_round() {
    let mut vegas = started(Quirks::NONE);
    assert_eq!(vegas.cwnd(), 1.0, "the first round does not grow");
    let mut at = 100;
    let (mut acked, mut windows) = (1, Vec::new());
    for _ in 0..4 {
        let window = vegas.cwnd() as u64;
        (acked..acked + window).for_each(|segment| vegas.on_sent(ms(at), segment));
        at += 100;
        let next = acked + window;
        for _ in 0..window {
            acked += 1;
            let rtt = Some(Duration::from_millis(100));
            vegas.on_ack(&AckEvent {
                now: ms(at),
                acked,
                newly_acked: 1,
                next,
                rtt,
                ..AckEvent::default()
            });
        }
        windows.push(vegas.cwnd());
    }
    assert_eq!(windows, [2.0, 2.0, 4.0, 4.0]);
}

#[test]
fn a_growing_round_with_diff_above_gamma_ends_slow_start() {
    // RTT 125 ms: Δ = 2 > 1; cwnd is reduced by an eighth.
    let mut vegas = avoiding();
    (vegas.ssthresh, vegas.growing) = (1000.0, false);
    vegas.on_ack(&end_of_round(125));
    assert_eq!((vegas.cwnd(), vegas.ssthresh()), (8.75, 2.0));
}

#[test]
fn growth_waits_until_the_window_is_used() {
    // Δ = 0 with W_out = 7: 7/0.1·0.1 − 7·100/103 = 0.2; cwnd 10 − 7 = 3 > 2.
    let mut vegas = avoiding();
    vegas.on_ack(&AckEvent {
        next: 17,
        in_flight: 6,
        ..end_of_round(103)
    });
    assert_eq!(vegas.cwnd(), 10.0);
    vegas.on_ack(&AckEvent {
        acked: 12,
        next: 19,
        ..end_of_round(103)
    });
    assert_eq!(vegas.cwnd(), 10.1);
}

#[test]
fn base_takes_any_lower_sample_and_the_rtt_of_a_lonely_segment() {
    let base = |vegas: &Vegas| vegas.snapshot().base_rtt.unwrap();
    let mut vegas = avoiding();
    vegas.on_ack(&end_of_round(90));
    assert_eq!(base(&vegas), Duration::from_millis(90));
    vegas.round = Some(Round {
        mark: 20,
        start: ms(2000),
        start_s: 0.0,
        stale: false,
    });
    let lonely = AckEvent {
        now: ms(2150),
        acked: 21,
        next: 21,
        rtt: None,
        ..end_of_round(0)
    };
    vegas.on_ack(&AckEvent {
        newly_acked: 1,
        ..lonely
    });
    assert_eq!(
        base(&vegas),
        Duration::from_millis(90),
        "the round had a sample, of 90 ms"
    );
    vegas.round = Some(Round {
        mark: 21,
        start: ms(3000),
        start_s: 0.0,
        stale: false,
    });
    vegas.on_ack(&AckEvent {
        now: ms(3150),
        acked: 22,
        next: 22,
        ..lonely
    });
    assert_eq!(base(&vegas), Duration::from_millis(150));
}

#[test]
fn a_loss_cuts_a_quarter_and_a_repeated_one_half() {
    for (window, transmissions, cut) in [
        (20, 1, 15.0),
        (20, 2, 10.0),
        (7, 1, 6.0),
        (3, 1, 2.0),
        (2, 2, 2.0),
    ] {
        let mut vegas = avoiding();
        vegas.on_loss(&loss(window, transmissions, Some(1000)));
        assert_eq!(vegas.cwnd(), cut + 3.0, "inflated by the duplicates");
        vegas.on_departure(ms(2001));
        vegas.on_recovered(ms(2002));
        assert_eq!((vegas.cwnd(), vegas.ssthresh()), (cut, 2.0));
    }
}

#[test]
fn a_loss_of_what_was_sent_before_the_last_cut_does_not_cut_again() {
    let mut vegas = avoiding();
    vegas.on_loss(&loss(20, 1, Some(1000)));
    let cut = vegas.cwnd();
    vegas.on_loss(&loss(18, 1, Some(2000)));
    vegas.on_loss(&loss(18, 1, None));
    assert_eq!(vegas.cwnd(), cut);
}

#[test]
fn after_a_timeout_the_quirk_lets_a_recovery_close_the_window() {
    for (quirks, window) in [(Quirks::NS2, 0.0), (Quirks::NONE, 2.0)] {
        let mut vegas = started(quirks);
        vegas.on_timeout(&TimeoutEvent {
            now: ms(5000),
            window: 9,
        });
        assert_eq!((vegas.cwnd(), vegas.ssthresh()), (2.0, 4.0));
        vegas.on_departure(ms(5100));
        vegas.on_recovered(ms(5200));
        assert_eq!(vegas.cwnd(), window);
    }
}

/// A timeout goes back from segment 10 to 5, but 6 to 8 wait at the receiver and 9 is still in flight: the resent
/// segment 5 acknowledges up to 8, and 9 arrives 4 ms later.
#[test]
fn only_the_quirk_takes_the_time_between_two_acknowledgements_for_an_rtt() {
    for (quirks, base_ms) in [(Quirks::NS2_FAITHFUL, 4), (Quirks::NS2, 100)] {
        let mut vegas = started(quirks);
        let at = |now, acked, newly_acked, next| AckEvent {
            now: ms(now),
            acked,
            newly_acked,
            next,
            in_flight: next - acked,
            ..AckEvent::default()
        };
        let rtt = Some(Duration::from_millis(100));
        (1..7).for_each(|segment| vegas.on_sent(ms(100), segment));
        vegas.on_ack(&AckEvent {
            rtt,
            ..at(200, 2, 1, 7)
        });
        (7..10).for_each(|segment| vegas.on_sent(ms(200), segment));
        vegas.on_ack(&AckEvent {
            rtt,
            ..at(200, 5, 3, 10)
        });
        vegas.on_timeout(&TimeoutEvent {
            now: ms(1200),
            window: 9,
        });
        vegas.on_sent(ms(1200), 5);
        vegas.on_ack(&at(1300, 9, 4, 9));
        vegas.on_sent(ms(1300), 9);
        vegas.on_ack(&at(1304, 10, 1, 10));
        assert_eq!(
            vegas.snapshot().base_rtt,
            Some(Duration::from_millis(base_ms)),
            "{quirks:?}"
        );
    }
}

/// Whether an acknowledgement grows a window of 10 with `10 - ahead` segments in flight.
fn grows_while_ahead_by<M: Meter>(mut control: Machine<M>, ahead: u64) -> bool {
    (control.cwnd, control.increment) = (10.0, 0.1);
    control.on_ack(&AckEvent {
        now: ms(100),
        acked: 5,
        newly_acked: 1,
        next: 15 - ahead,
        ..AckEvent::default()
    });
    control.cwnd > 10.0
}

#[test]
fn a_window_grows_only_while_what_is_in_flight_keeps_up() {
    let limits = Limits::default();
    // §3.4.2: ahead by at most 2.
    let rovegas = || RoVegasConfig::default().build(&limits);
    assert!(grows_while_ahead_by(rovegas(), 2) && !grows_while_ahead_by(rovegas(), 3));
    let enhanced = || EnhancedVegasConfig::default().build(&limits);
    assert!(grows_while_ahead_by(enhanced(), 2) && !grows_while_ahead_by(enhanced(), 3));
    // The papers' simulator: 3.
    let vegas = || VegasConfig::default().build(&limits);
    assert!(grows_while_ahead_by(vegas(), 3) && !grows_while_ahead_by(vegas(), 4));
}
