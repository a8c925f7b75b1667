//! Delivery-rate samples (draft-cheng-iccrg-delivery-rate-estimation-02).

use congestion::RateSample;
use units::{Duration, Instant};

/// The deliveries of a connection so far. Counts segments, not octets.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Deliveries {
    /// C.delivered.
    delivered: u64,
    /// C.delivered_time.
    delivered_at: Instant,
    /// C.first_sent_time: when the sampled flight began.
    first_sent: Instant,
    /// C.app_limited: samples of segments up to this number of deliveries are application-limited.
    app_limited_until: u64,
    /// Number of segments detected as lost.
    lost: u64,
}

/// The state of [`Deliveries`] when a segment is sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stamp {
    delivered: u64,
    delivered_at: Instant,
    first_sent: Instant,
    lost: u64,
    in_flight: u32,
    app_limited: bool,
}

/// Collects the sample of one acknowledgement: that of the newest segment that it covers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sampler {
    newest: Option<(Instant, Stamp)>,
}

impl Deliveries {
    /// Records a sent segment. `in_flight` is the number of segments in flight before it.
    pub(super) fn stamp(&mut self, now: Instant, in_flight: usize) -> Stamp {
        if in_flight == 0 {
            self.first_sent = now;
            self.delivered_at = now;
        }
        Stamp {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            lost: self.lost,
            in_flight: in_flight as u32 + 1,
            app_limited: self.app_limited_until > 0,
        }
    }

    /// Records that the window has room and there is nothing to send: the `in_flight` segments are application-limited.
    pub(super) fn on_app_limited(&mut self, in_flight: usize) {
        self.app_limited_until = (self.delivered + in_flight as u64).max(1);
    }

    /// Records losses.
    pub(super) fn on_lost(&mut self, segments: u64) {
        self.lost += segments;
    }

    /// The sample of an acknowledgement that delivered something. `None` if its interval would be shorter than
    /// `min_rtt`, which is impossible for a flight.
    pub(super) fn finish(
        &mut self,
        now: Instant,
        sampler: Sampler,
        min_rtt: Option<Duration>,
    ) -> Option<RateSample> {
        if self.app_limited_until > 0 && self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        let (sent, stamp) = sampler.newest?;
        let interval = sent
            .since(stamp.first_sent)
            .max(self.delivered_at.since(stamp.delivered_at));
        self.first_sent = sent;
        if interval == Duration::ZERO || min_rtt.is_some_and(|least| interval < least) {
            return None;
        }
        Some(RateSample {
            delivered: self.delivered - stamp.delivered,
            interval,
            prior_delivered: stamp.delivered,
            total_delivered: self.delivered,
            prior_in_flight: u64::from(stamp.in_flight),
            lost: self.lost - stamp.lost,
            rtt: now.since(sent),
            app_limited: stamp.app_limited,
        })
    }
}

impl Sampler {
    /// Handles the arrival of a segment that was sent at `sent`.
    pub(super) fn on_delivered(
        &mut self,
        deliveries: &mut Deliveries,
        now: Instant,
        sent: Instant,
        stamp: Stamp,
    ) {
        deliveries.delivered += 1;
        deliveries.delivered_at = now;
        let newer = self
            .newest
            .is_none_or(|(at, newest)| (stamp.delivered, sent) >= (newest.delivered, at));
        if newer {
            self.newest = Some((sent, stamp));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_micros(ms * 1000)
    }

    #[test]
    fn a_flight_is_measured_by_the_longer_of_its_sending_and_its_acknowledging() {
        let mut deliveries = Deliveries::default();
        // Ten segments are sent a millisecond apart. Each is acknowledged 2 ms after the one before, the first after 50
        // ms.
        let stamps: Vec<_> = (0..10)
            .map(|i| deliveries.stamp(at(i), i as usize))
            .collect();
        let mut last = None;
        for (i, &stamp) in (0..).zip(&stamps) {
            let mut sampler = Sampler::default();
            let now = at(50 + 2 * i);
            sampler.on_delivered(&mut deliveries, now, at(i), stamp);
            last = deliveries.finish(now, sampler, None);
        }
        let sample = last.unwrap();
        assert_eq!((sample.delivered, sample.prior_delivered), (10, 0));
        assert_eq!(sample.interval, Duration::from_millis(68));
        assert_eq!(sample.rtt, Duration::from_millis(68 - 9));
        assert_eq!(sample.prior_in_flight, 10);
        assert!(!sample.app_limited);
    }

    #[test]
    fn the_application_s_pace_is_reported_until_its_flight_is_delivered() {
        let mut deliveries = Deliveries::default();
        let first = deliveries.stamp(at(0), 0);
        deliveries.on_app_limited(1);
        let second = deliveries.stamp(at(1), 1);
        let mut limited = Vec::new();
        for (sent, stamp) in [(0, first), (1, second)] {
            let mut sampler = Sampler::default();
            sampler.on_delivered(&mut deliveries, at(50 + sent), at(sent), stamp);
            let sample = deliveries.finish(at(50 + sent), sampler, None);
            limited.push(sample.unwrap().app_limited);
        }
        assert_eq!(limited, [false, true]);
        assert!(!deliveries.stamp(at(60), 0).app_limited);
    }
}
