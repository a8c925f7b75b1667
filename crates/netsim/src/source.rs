//! Open-loop traffic: sources, and the departure times of their datagrams.

use crate::random::{Purpose, Random};
use crate::scenario::{self, ScenarioError, SourceKind, check_source_settings};
use transport::wire;
use units::{Duration, Instant};

/// A source, and the packet that it sends repeatedly. Needed wherever its packets arrive.
#[derive(Debug)]
pub(crate) struct OpenLoop {
    pub name: String,
    pub host: usize,
    pub sink: usize,
    pub addresses: wire::Flow,
    pub packet_octets: u32,
}

/// The departure times of a source's datagrams, in order.
#[derive(Debug)]
pub struct Departures {
    pacer: Pacer,
    /// The preceding departure; initially the start of the source.
    last: Instant,
    begun: bool,
    stop: Instant,
}

impl Departures {
    /// Creates the departures of source `number` of a checked scenario with this seed.
    pub(crate) fn new(source: &scenario::Source, seed: u64, number: usize) -> Self {
        Departures {
            pacer: Pacer::new(source, Random::new(seed, Purpose::Source, number)),
            last: Instant::from_secs_f64(source.start_s),
            begun: false,
            stop: source.stop_s.map_or(Instant::MAX, Instant::from_secs_f64),
        }
    }
}

impl Iterator for Departures {
    type Item = Instant;

    fn next(&mut self) -> Option<Instant> {
        self.last = match std::mem::replace(&mut self.begun, true) {
            true => self.pacer.next(self.last),
            false => self.pacer.first(self.last),
        };
        (self.last < self.stop).then_some(self.last)
    }
}

/// The octets of each datagram and the departure times of a source (JSON, as in a scenario) outside of a network. With
/// the same seed and number they equal those of a scenario's source with this number.
///
/// # Errors
/// As [`scenario::Scenario::from_json`] for such a source. Its hosts are not checked.
pub fn departures(
    json: &str,
    seed: u64,
    number: usize,
) -> Result<(u32, Departures), ScenarioError> {
    let source: scenario::Source = scenario::read(json)?;
    check_source_settings("source", &source)?;
    let departures = Departures::new(&source, seed, number);
    Ok((source.packet_octets, departures))
}

/// The pacing of a source.
///
/// `i` = size · 8 / rate is the time between packets of a burst. A burst consists of `max(1, ⌊X + ½⌋)` packets. The
/// idle time after it is added to one `i`, and a source starts with an idle time plus `i`.
#[derive(Debug)]
struct Pacer {
    interval_s: f64,
    kind: Kind,
    /// Packets left in this burst.
    burst: u64,
    random: Random,
}

#[derive(Debug)]
enum Kind {
    Constant,
    Exponential {
        packets: f64,
        idle_s: f64,
    },
    Pareto {
        packets: f64,
        idle_s: f64,
        shape: f64,
    },
}

impl Pacer {
    /// Creates a pacer for a source of a checked scenario.
    fn new(source: &scenario::Source, random: Random) -> Self {
        let interval_s = f64::from(source.packet_octets) * 8.0 / source.rate_bps;
        let on_s = source.mean_on_s.unwrap_or(0.0);
        let idle_s = match (source.mean_off_s, source.mean_rate_bps) {
            (Some(off_s), _) => off_s,
            (None, Some(mean)) => on_s * (source.rate_bps / mean - 1.0),
            (None, None) => 0.0,
        };
        let packets = on_s / interval_s;
        let kind = match source.kind {
            SourceKind::Cbr => Kind::Constant,
            SourceKind::Exponential => Kind::Exponential { packets, idle_s },
            SourceKind::Pareto => Kind::Pareto {
                packets,
                idle_s,
                shape: source.shape.unwrap_or(f64::INFINITY),
            },
        };
        Pacer {
            interval_s,
            kind,
            burst: 0,
            random,
        }
    }

    /// The departure time of the first packet of a source that starts at `start`.
    fn first(&mut self, start: Instant) -> Instant {
        match self.kind {
            Kind::Constant => start,
            _ => self.next(start),
        }
    }

    /// The departure time of the packet after the one that leaves at `now`.
    fn next(&mut self, now: Instant) -> Instant {
        let mut wait_s = self.interval_s;
        if self.burst == 0 {
            let (packets, idle_s) = self.draw();
            self.burst = ((packets + 0.5).floor() as u64).max(1);
            wait_s += idle_s;
        }
        self.burst -= 1;
        now + Duration::from_secs_f64(wait_s)
    }

    /// Draws the length of the next burst in packets, and the idle time before it.
    fn draw(&mut self) -> (f64, f64) {
        let random = &mut self.random;
        match self.kind {
            Kind::Constant => (1.0, 0.0),
            Kind::Exponential { packets, idle_s } => {
                (random.exponential(packets), random.exponential(idle_s))
            }
            Kind::Pareto {
                packets,
                idle_s,
                shape,
            } => (random.pareto(packets, shape), random.pareto(idle_s, shape)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pacer(json: serde_json::Value, seed: u64) -> Pacer {
        let mut data = serde_json::json!({"from": "a", "to": "b"});
        data.as_object_mut()
            .unwrap()
            .extend(json.as_object().unwrap().clone());
        let source: scenario::Source = serde_json::from_value(data).unwrap();
        Pacer::new(&source, Random::new(seed, Purpose::Source, 0))
    }

    /// Packets that leave within `seconds`.
    fn count(mut pacer: Pacer, seconds: f64) -> u64 {
        let end = Instant::from_secs_f64(seconds);
        let mut at = pacer.first(Instant::ZERO);
        let mut packets = 0;
        while at < end {
            packets += 1;
            at = pacer.next(at);
        }
        packets
    }

    #[test]
    fn departures_begin_and_stop_as_the_source_does() {
        let json = r#"{"from": "a", "to": "b", "kind": "cbr", "rate_bps": 1.6e6,
                       "start_s": 2.0, "stop_s": 2.012}"#;
        let (octets, times) = departures(json, 1, 0).unwrap();
        let at = |ms: u64| Instant::from_micros(1000 * ms);
        assert_eq!(octets, 1000);
        assert_eq!(times.collect::<Vec<_>>(), [2000, 2005, 2010].map(at));
    }

    #[test]
    fn departures_differ_by_seed_and_by_number() {
        let json = r#"{"from": "a", "to": "b", "kind": "exponential", "rate_bps": 3.2e6,
                       "mean_on_s": 0.01, "mean_off_s": 0.01}"#;
        let of = |seed, number| {
            let (_, times) = departures(json, seed, number).unwrap();
            times.take(100).collect::<Vec<_>>()
        };
        assert_eq!(of(1, 0), of(1, 0));
        assert_ne!(of(1, 0), of(2, 0));
        assert_ne!(of(1, 0), of(1, 1));
    }

    #[test]
    fn a_source_that_cannot_be_is_told() {
        let json = r#"{"from": "a", "to": "b", "kind": "pareto", "rate_bps": 1e6,
                       "mean_on_s": 0.5, "mean_off_s": 0.5}"#;
        let told = departures(json, 1, 0).unwrap_err().to_string();
        assert!(told.contains("source.shape"), "{told}");
    }

    #[test]
    fn a_constant_rate_starts_at_once_and_keeps_its_interval() {
        let mut cbr = pacer(serde_json::json!({"kind": "cbr", "rate_bps": 1.6e6}), 1);
        let start = Instant::from_nanos(17);
        assert_eq!(cbr.first(start), start);
        assert_eq!(cbr.next(start), start + Duration::from_millis(5));
    }

    #[test]
    fn a_burst_is_at_least_one_packet_after_idle_time_and_interval() {
        // A mean of 0.01 packets rounds to zero, so every burst has the minimum of one packet.
        let json = serde_json::json!({"kind": "exponential", "rate_bps": 8e6,
                                      "mean_on_s": 1e-5, "mean_off_s": 0.0});
        let mut source = pacer(json, 1);
        assert_eq!(source.first(Instant::ZERO), Instant::from_micros(1000));
        assert_eq!(
            source.next(Instant::from_micros(1000)),
            Instant::from_micros(2000)
        );
    }

    /// E[max(1, ⌊X+½⌋)] of an exponential X of mean m is 1 + e^(−1.5/m)/(1 − e^(−1/m)).
    #[test]
    fn exponential_bursts_have_the_load_that_follows_from_their_rounding() {
        let json = serde_json::json!({"kind": "exponential", "rate_bps": 3.2e6,
                                      "mean_on_s": 0.01, "mean_rate_bps": 1.44e6});
        let (interval, m) = (0.0025, 4.0_f64);
        let burst = 1.0 + libm::exp(-1.5 / m) / (1.0 - libm::exp(-1.0 / m));
        let idle = 0.01 * (3.2 / 1.44 - 1.0);
        let expected = burst / (burst * interval + idle) * 2000.0;
        for seed in 1..4 {
            let packets = count(pacer(json.clone(), seed), 2000.0) as f64;
            assert!(
                (packets / expected - 1.0).abs() < 0.01,
                "{packets} {expected}"
            );
        }
    }

    #[test]
    fn pareto_bursts_come_near_their_mean_rate_over_long_runs() {
        let json = serde_json::json!({"kind": "pareto", "rate_bps": 1.6e6, "shape": 1.5,
                                      "mean_on_s": 0.5, "mean_off_s": 0.5});
        let packets = count(pacer(json, 1), 50_000.0) as f64;
        let expected = 0.8e6 / 8000.0 * 50_000.0;
        // Shape 1.5 has infinite variance: the mean converges slowly.
        assert!(
            (packets / expected - 1.0).abs() < 0.1,
            "{packets} {expected}"
        );
    }
}
