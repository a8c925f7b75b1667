//! The records of the hops of a path (in-band telemetry), with HPCC's terms (Li et al., SIGCOMM 2019, §4.1).

/// The records of the hops of a path, as collected by one packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathRecord {
    hops: [HopRecord; Self::MAX],
    len: u8,
    /// A digest of the hops' identities. A different value means a different path.
    pub path: u16,
}

/// A hop's record of the queue and the link through which a packet left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HopRecord {
    /// When the packet left the queue, in nanoseconds of the hop's clock. Wraps around.
    pub left_ns: u64,
    /// Octets that the link has carried so far, including this packet's. Wraps around.
    pub sent_octets: u32,
    /// Octets in the queue when the packet left it.
    pub queue_octets: u32,
    /// The rate of the link in kb/s. Never 0.
    pub rate_kbps: u32,
}

/// The activity of a hop between two packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    /// Its length, in seconds. Positive.
    pub(crate) length_s: f64,
    /// Octets that the link carried.
    pub(crate) sent_octets: f64,
    /// Octets in the queue at the beginning and at the end.
    pub(crate) queue_octets: (f64, f64),
    /// The link's rate, in octets per second.
    pub(crate) rate: f64,
}

impl PathRecord {
    /// The maximum number of hops.
    pub const MAX: usize = 8;

    /// Appends the next hop of the path. Returns `false`, without any change, if there is no room.
    pub fn push(&mut self, hop: HopRecord) -> bool {
        let Some(slot) = self.hops.get_mut(usize::from(self.len)) else {
            return false;
        };
        *slot = hop;
        self.len += 1;
        true
    }

    /// The hops, in the order of the path.
    pub fn hops(&self) -> &[HopRecord] {
        &self.hops[..usize::from(self.len)]
    }

    /// The minimum rate of the path's links, in octets per second. `None` if there are no records.
    pub(crate) fn least_rate(&self) -> Option<f64> {
        let least = self.hops().iter().map(|hop| hop.rate_kbps).min()?;
        Some(octets_per_second(least))
    }

    fn is_same_path(&self, other: &PathRecord) -> bool {
        (self.len, self.path) == (other.len, other.path)
    }
}

impl HopRecord {
    /// The activity since `earlier`. `None` if the hop's clock has not advanced or has moved backwards.
    fn since(&self, earlier: &HopRecord) -> Option<Interval> {
        let length_ns = self.ahead_ns(earlier);
        (length_ns > 0).then(|| Interval {
            length_s: length_ns as f64 / 1e9,
            sent_octets: f64::from(self.sent_octets.wrapping_sub(earlier.sent_octets)),
            queue_octets: (
                f64::from(earlier.queue_octets),
                f64::from(self.queue_octets),
            ),
            rate: octets_per_second(self.rate_kbps),
        })
    }

    fn ahead_ns(&self, earlier: &HopRecord) -> i64 {
        self.left_ns.wrapping_sub(earlier.left_ns) as i64
    }
}

fn octets_per_second(kbps: u32) -> f64 {
    f64::from(kbps) * 125.0
}

/// If a hop's clock has moved backwards by more than this, it was restarted. If by less, packets were reordered.
const SET_BACK_NS: i64 = -1_000_000_000;

/// The newest record of each hop, with which the next one is compared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hops {
    newest: Option<PathRecord>,
}

impl Hops {
    /// Whether there is any record.
    pub(crate) fn is_empty(&self) -> bool {
        self.newest.is_none()
    }

    /// Removes all records.
    pub(crate) fn clear(&mut self) {
        self.newest = None;
    }

    /// The activity of each hop since the newest record. The first record of a path yields nothing. A hop whose clock
    /// has not advanced is omitted, and its activity is included in the next record.
    pub(crate) fn advance(&mut self, path: &PathRecord) -> impl Iterator<Item = Interval> {
        if !self.newest.is_some_and(|newest| newest.is_same_path(path)) {
            self.newest = Some(*path);
        }
        let newest = self.newest.iter_mut().flat_map(|newest| &mut newest.hops);
        newest.zip(path.hops()).filter_map(|(newest, hop)| {
            let interval = hop.since(newest);
            if interval.is_some() || hop.ahead_ns(newest) < SET_BACK_NS {
                *newest = *hop;
            }
            interval
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::controller::Controller;
    use crate::event::{AckEvent, Evidence, LossEvent, TimeoutEvent};
    use units::Instant;

    /// A hop of 100 Mb/s.
    pub(crate) fn hop(left_us: u64, sent_octets: u32, queue_octets: u32) -> HopRecord {
        HopRecord {
            left_ns: left_us * 1000,
            sent_octets,
            queue_octets,
            rate_kbps: 100_000,
        }
    }

    pub(crate) fn path(hops: &[HopRecord]) -> PathRecord {
        let mut path = PathRecord::default();
        assert!(hops.iter().all(|hop| path.push(*hop)));
        path
    }

    pub(crate) fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-9, "{value}, not {expected}");
    }

    /// A window of 10 segments is halved by a loss before the first record, and not changed by one after it. A timeout
    /// reduces it to 1 and removes the record.
    pub(crate) fn check_losses(control: &mut dyn Controller, record: &AckEvent) {
        let loss = LossEvent {
            now: Instant::ZERO,
            evidence: Evidence::Time,
            lost: 0,
            sent_at: None,
            transmissions: 1,
            duplicates: 0,
            window: 10,
        };
        near(control.snapshot().cwnd, 10.0);
        control.on_loss(&loss);
        near(control.snapshot().cwnd, 5.0);
        control.on_ack(record);
        control.on_loss(&loss);
        near(control.snapshot().cwnd, 5.0);
        control.on_timeout(&TimeoutEvent {
            now: Instant::ZERO,
            window: 5,
        });
        near(control.snapshot().cwnd, 1.0);
        control.on_loss(&loss);
        near(control.snapshot().cwnd, 1.0);
    }

    fn advance(hops: &mut Hops, record: &[HopRecord]) -> Vec<(f64, f64)> {
        let path = path(record);
        let intervals = hops.advance(&path);
        intervals.map(|i| (i.length_s, i.sent_octets)).collect()
    }

    #[test]
    fn a_path_has_room_for_eight_hops() {
        let mut path = path(&[hop(0, 0, 0); 8]);
        assert!(!path.push(hop(8, 0, 0)));
        assert_eq!(path.hops(), [hop(0, 0, 0); 8]);
    }

    #[test]
    fn the_first_record_of_a_path_tells_nothing() {
        let mut hops = Hops::default();
        assert_eq!(advance(&mut hops, &[hop(10, 1500, 0)]), []);
        assert_eq!(advance(&mut hops, &[hop(30, 4500, 0)]), [(2e-5, 3000.0)]);
        // A different number of hops, and a different identity with the same number.
        assert_eq!(advance(&mut hops, &[hop(40, 0, 0), hop(50, 0, 0)]), []);
        let mut other = path(&[hop(60, 0, 0), hop(70, 0, 0)]);
        other.path = 7;
        assert_eq!(hops.advance(&other).count(), 0);
        assert_eq!(hops.advance(&other).count(), 0);
    }

    #[test]
    fn octets_and_clocks_wrap() {
        let mut hops = Hops::default();
        let before = HopRecord {
            left_ns: u64::MAX - 999,
            ..hop(0, u32::MAX - 499, 0)
        };
        advance(&mut hops, &[before]);
        assert_eq!(advance(&mut hops, &[hop(1, 1000, 0)]), [(2e-6, 1500.0)]);
    }

    #[test]
    fn what_happens_within_a_tick_of_the_clock_counts_later() {
        let mut hops = Hops::default();
        advance(&mut hops, &[hop(10, 1500, 0)]);
        assert_eq!(advance(&mut hops, &[hop(10, 3000, 0)]), []);
        assert_eq!(advance(&mut hops, &[hop(11, 4500, 0)]), [(1e-6, 3000.0)]);
    }

    #[test]
    fn records_that_were_overtaken_tell_nothing_and_a_clock_set_back_starts_afresh() {
        let mut hops = Hops::default();
        advance(&mut hops, &[hop(5_000_000, 9000, 0)]);
        assert_eq!(advance(&mut hops, &[hop(4_999_990, 7500, 0)]), []);
        assert_eq!(
            advance(&mut hops, &[hop(5_000_010, 10_500, 0)]),
            [(1e-5, 1500.0)]
        );
        assert_eq!(advance(&mut hops, &[hop(10, 1500, 0)]), []);
        assert_eq!(advance(&mut hops, &[hop(20, 3000, 0)]), [(1e-5, 1500.0)]);
    }
}
