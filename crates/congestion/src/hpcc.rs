//! HPCC (Li et al., *HPCC: High Precision Congestion Control*, SIGCOMM 2019): keeps the octets in flight on every link
//! of the path just below the link's rate times the base round-trip time.
//!
//! Each acknowledgement carries a record of every hop ([`crate::telemetry`]). The normalized data in flight of a link
//! is `U = tx/B + min(qlen, last qlen)/(B·T)`. The maximum over the path counts, averaged over a round trip. The window
//! is divided by `U/η`, starting from a reference that changes once per round trip, so that there is no double reaction
//! to the same event.

use units::Duration;

use crate::controller::{Controller, Factory, Limits, Phase, Snapshot};
use crate::event::{AckEvent, LossEvent, TimeoutEvent};
use crate::host_link::{BASE_RTT, FLOWS, HOST_RATE, HostLink, HostLinkConfig};
use crate::registry::{Control, Mark, Need, Recovery};
use crate::round::Round;
use crate::telemetry::{Hops, PathRecord};

/// `η`: the target of `U` (§5.1).
const ETA: f64 = 0.95;
/// `maxStage`: the number of round trips of additive increase before the window is also multiplied (§5.1).
const MAX_STAGE: u32 = 5;
/// A window below one segment is paced.
const MIN_WINDOW: f64 = 0.001;

pub(crate) static HPCC: Control = Control {
    name: "hpcc",
    label: "HPCC",
    summary: "keeps each link's octets in flight below its capacity",
    source: "Li et al. 2019",
    recovery: Recovery::Sack,
    marks: &[Mark::Int],
    needs: &[Need::PromptAcks, Need::Pacing],
    settings: &[BASE_RTT, HOST_RATE, FLOWS],
    factory: |settings, _| {
        Box::new(HpccConfig {
            link: HostLinkConfig::of(settings),
            flows: settings.number(FLOWS.name),
        })
    },
};

/// Settings of [`Hpcc`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HpccConfig {
    /// The host's link and `T`.
    pub link: HostLinkConfig,
    /// `N` of `W_AI`: the number of expected number of flows that share a link.
    pub flows: f64,
}

impl HpccConfig {
    /// Creates a controller for a new connection. It starts with `W_init`, the host's rate times `T`, if both are
    /// known, otherwise with the transport's initial window.
    pub fn build(&self, limits: &Limits) -> Hpcc {
        let link = HostLink::new(self.link, limits);
        let start = link.full_window(None).unwrap_or(limits.initial_window);
        let start = limits.cap(start.max(MIN_WINDOW));
        Hpcc {
            limits: *limits,
            flows: self.flows,
            link,
            hops: Hops::default(),
            in_flight: 1.0,
            window: start,
            reference: start,
            stage: 0,
            round: Round::default(),
        }
    }
}

impl Factory for HpccConfig {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        Box::new(self.build(limits))
    }
}

/// A window, its reference, and the normalized data in flight of the most loaded link.
#[derive(Clone, Debug)]
pub struct Hpcc {
    limits: Limits,
    flows: f64,
    link: HostLink,
    /// `L`
    hops: Hops,
    /// `U`
    in_flight: f64,
    /// `W`, in segments.
    window: f64,
    /// `Wc`
    reference: f64,
    /// `incStage`
    stage: u32,
    round: Round,
}

impl Hpcc {
    /// Algorithm 1, `NewAck`.
    fn new_ack(&mut self, ack: &AckEvent) {
        self.link.measure(ack);
        let ends_round = self.round.ends(ack);
        let Some((path, base)) = ack.path.zip(self.link.base_s()) else {
            return;
        };
        if self.measure_in_flight(&path, base)
            && let Some(full) = self.link.full_window(Some(&path))
        {
            self.compute_window(full, ends_round);
        }
    }

    /// Algorithm 1, `MeasureInflight`. Returns whether there was a measurement.
    fn measure_in_flight(&mut self, path: &PathRecord, base: f64) -> bool {
        let mut greatest = None;
        for link in self.hops.advance(path) {
            let (before, after) = link.queue_octets;
            let queue = before.min(after) / (link.rate * base);
            let share = queue + link.sent_octets / link.length_s / link.rate;
            if greatest.is_none_or(|(most, _)| share > most) {
                greatest = Some((share, link.length_s));
            }
        }
        let Some((share, length_s)) = greatest else {
            return false;
        };
        let weight = length_s.min(base) / base;
        self.in_flight = (1.0 - weight) * self.in_flight + weight * share;
        true
    }

    /// Algorithm 1, `ComputeWind`; `full` is `W_init`.
    fn compute_window(&mut self, full: f64, ends_round: bool) {
        let increase = full * (1.0 - ETA) / self.flows;
        let stage = if self.in_flight >= ETA || self.stage >= MAX_STAGE {
            self.set_window((self.reference / (self.in_flight / ETA)).min(full) + increase);
            0
        } else {
            self.set_window(self.reference.min(full) + increase);
            self.stage + 1
        };
        if ends_round {
            self.stage = stage;
            self.reference = self.window;
        }
    }

    fn set_window(&mut self, window: f64) {
        self.window = self.limits.cap(window.max(MIN_WINDOW));
    }

    /// Without records, losses are the only signal.
    fn without_records(&mut self, window: f64) {
        self.set_window(window.max(1.0));
        self.reference = self.window;
        self.stage = 0;
    }
}

impl Controller for Hpcc {
    /// The window, rounded up to whole segments. The pacing rate accounts for the fraction.
    fn cwnd(&self) -> f64 {
        self.window.ceil()
    }

    /// There is no slow start.
    fn ssthresh(&self) -> f64 {
        0.0
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        self.new_ack(ack);
    }

    fn on_partial_ack(&mut self, ack: &AckEvent) {
        self.new_ack(ack);
    }

    fn on_duplicate_ack(&mut self, ack: &AckEvent) {
        self.new_ack(ack);
    }

    /// The records show a full queue before it drops, so a loss adds no information.
    fn on_loss(&mut self, _loss: &LossEvent) {
        if self.hops.is_empty() {
            self.without_records(self.window / 2.0);
        }
    }

    /// Nothing was acknowledged, so there is no record either.
    fn on_timeout(&mut self, _timeout: &TimeoutEvent) {
        self.hops.clear();
        self.without_records(1.0);
    }

    /// `R = W/T`.
    fn pacing_rate(&self) -> Option<f64> {
        self.link.pacing_rate(self.window)
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            cwnd: self.window,
            ssthresh: self.ssthresh(),
            phase: Phase::Avoidance,
            base_rtt: self.link.base_s().map(Duration::from_secs_f64),
            diff: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::HopRecord;
    use crate::telemetry::tests::{check_losses, hop, near, path};

    /// T 1 ms over 100 Mb/s: 12,500 octets in flight, 10 segments of 1250.
    fn hpcc() -> Hpcc {
        let config = HpccConfig {
            link: HostLinkConfig {
                base_rtt_s: Some(0.001),
                host_rate_bps: Some(1e8),
            },
            flows: 10.0,
        };
        config.build(&Limits {
            packet_octets: 1250,
            ..Limits::default()
        })
    }

    /// The acknowledgement of segment `acked` with 10 more sent, and the record of its data.
    fn ack(acked: u64, hops: &[HopRecord]) -> AckEvent {
        AckEvent {
            acked,
            newly_acked: 1,
            newly_delivered: 1,
            next: acked + 10,
            rtt: Some(Duration::from_millis(1)),
            path: Some(path(hops)),
            ..AckEvent::default()
        }
    }

    /// W_init = B·T, and it is sent in T.
    #[test]
    fn a_host_of_known_rate_starts_at_it() {
        near(hpcc().window, 10.0);
        near(hpcc().pacing_rate().unwrap(), 10_000.0);
        let config = HpccConfig {
            link: HostLinkConfig {
                base_rtt_s: None,
                host_rate_bps: Some(1e8),
            },
            flows: 10.0,
        };
        let unknown = config.build(&Limits {
            initial_window: 4.0,
            ..Limits::default()
        });
        assert_eq!((unknown.cwnd(), unknown.pacing_rate()), (4.0, None));
    }

    /// In 500 µs a link of 12.5 octets per µs carries 5000 octets, tx/B = .8. Of the queues of 2500 and 1250 octets the
    /// smaller one counts, 1250/12,500 = .1: u' = .9, with the weight 500/1000. The other link is less loaded.
    #[test]
    fn the_fullest_link_counts_for_as_long_as_it_was_measured() {
        let mut hpcc = hpcc();
        assert!(!hpcc.measure_in_flight(&path(&[hop(0, 0, 2500), hop(0, 0, 0)]), 0.001));
        near(hpcc.in_flight, 1.0);
        let next = path(&[hop(500, 5000, 1250), hop(900, 5000, 0)]);
        assert!(hpcc.measure_in_flight(&next, 0.001));
        near(hpcc.in_flight, 0.5 * 1.0 + 0.5 * 0.9);
        // Intervals longer than T count as T.
        let next = path(&[hop(5500, 67_500, 0), hop(6000, 5000, 0)]);
        assert!(hpcc.measure_in_flight(&next, 0.001));
        near(hpcc.in_flight, 1.0);
    }

    /// W_AI = 10 · .05/10 = .05. U = 1.9: W = 10/(1.9/.95) + .05 = 5.05, from the reference at the start of the round.
    #[test]
    fn a_window_is_divided_once_a_round_trip() {
        let mut hpcc = hpcc();
        hpcc.on_ack(&ack(1, &[hop(0, 0, 0)]));
        near(hpcc.window, 10.0);
        // 1 ms at the link's rate, with a queue of 11,250: U = 1.9.
        hpcc.on_ack(&ack(2, &[hop(1000, 12_500, 11_250)]));
        near(hpcc.in_flight, 1.0);
        hpcc.on_ack(&ack(3, &[hop(2000, 25_000, 11_250)]));
        near(hpcc.in_flight, 1.9);
        near(hpcc.window, 5.05);
        // The same again: within the round the reference is still 10.
        hpcc.on_ack(&ack(4, &[hop(3000, 37_500, 11_250)]));
        near(hpcc.window, 5.05);
        // The round is over: the reference becomes the result of this acknowledgement.
        hpcc.on_ack(&ack(12, &[hop(4000, 50_000, 11_250)]));
        near(hpcc.window, 5.05);
        hpcc.on_ack(&ack(13, &[hop(5000, 62_500, 11_250)]));
        near(hpcc.window, 5.05 / 2.0 + 0.05);
    }

    /// U = .4: five round trips add .05 each, the sixth multiplies by .95/.4 and adds.
    #[test]
    fn a_link_with_room_is_taken_after_five_round_trips() {
        let mut hpcc = hpcc();
        hpcc.window = 2.0;
        hpcc.reference = 2.0;
        hpcc.on_ack(&ack(1, &[hop(0, 0, 0)]));
        let mut windows = Vec::new();
        for trip in 1..=6 {
            let record = hop(trip * 1000, trip as u32 * 5000, 0);
            hpcc.on_ack(&ack(1 + 11 * trip, &[record]));
            windows.push(hpcc.window);
        }
        for (trip, window) in windows[..5].iter().enumerate() {
            near(*window, 2.0 + 0.05 * (trip + 1) as f64);
        }
        near(windows[5], 2.25 * 0.95 / 0.4 + 0.05);
        // At most the capacity of the host's link in a round trip, plus W_AI.
        hpcc.in_flight = 0.01;
        hpcc.stage = MAX_STAGE;
        hpcc.compute_window(10.0, false);
        near(hpcc.window, 10.05);
    }

    /// Without settings, T is the minimum round-trip time, and the host's rate the minimum of the path.
    #[test]
    fn what_is_not_given_is_measured() {
        let config = HpccConfig {
            link: HostLinkConfig::default(),
            flows: 1.0,
        };
        let mut hpcc = config.build(&Limits {
            initial_window: 4.0,
            packet_octets: 1250,
            ..Limits::default()
        });
        hpcc.on_ack(&ack(1, &[hop(0, 0, 0)]));
        near(hpcc.pacing_rate().unwrap(), 4000.0);
        // U = 1/2; W_AI = 10 · .05 of a minimum rate of 100 Mb/s.
        let fast = |at, sent| HopRecord {
            rate_kbps: 1_000_000,
            ..hop(at, sent, 0)
        };
        hpcc.on_ack(&ack(2, &[hop(500, 0, 0), fast(500, 0)]));
        hpcc.on_ack(&ack(12, &[hop(1500, 6250, 0), fast(1500, 6250)]));
        near(hpcc.window, 4.5);
    }

    #[test]
    fn segments_are_whole_and_their_rate_is_not() {
        let mut hpcc = hpcc();
        hpcc.window = 0.25;
        assert_eq!((hpcc.cwnd(), hpcc.snapshot().cwnd), (1.0, 0.25));
        near(hpcc.pacing_rate().unwrap(), 250.0);
        hpcc.window = 2.1;
        assert_eq!(hpcc.cwnd(), 3.0);
    }

    #[test]
    fn losses_count_only_where_there_are_no_records() {
        check_losses(&mut hpcc(), &ack(1, &[hop(0, 0, 0)]));
    }
}
