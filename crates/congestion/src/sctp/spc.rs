//! Switch path on congestion (Dahal 2007, §6.1.2): when to leave the primary path, and the initial window on the next
//! path.

use units::Duration;

/// The last round-trip times of the primary path, and how long it has been in use.
#[derive(Clone, Debug, Default)]
pub struct Spc {
    rtt: Duration,
    previous: Duration,
    before: Duration,
    /// Number of SACKs since the last switch.
    how_old: u64,
}

impl Spc {
    /// Handles a SACK. `rtt` is the primary path's, if the SACK allows a measurement. Returns whether to switch: the
    /// RTT has increased twice in a row, and was above the path's `threshold` before that.
    pub fn on_sack(&mut self, rtt: Option<Duration>, threshold: Duration) -> bool {
        self.how_old += 1;
        let Some(rtt) = rtt else {
            return false;
        };
        self.before = self.previous;
        self.previous = self.rtt;
        self.rtt = rtt;
        self.before > threshold && self.rtt > self.previous && self.previous > self.before
    }

    /// Restarts the RTTs after the primary path has changed. Returns the number of SACKs since the preceding change.
    pub fn on_switch(&mut self) -> u64 {
        std::mem::take(self).how_old
    }
}

/// The window of a path that becomes primary again after `how_old` SACKs, when it was `old` octets (6.3, 6.4).
pub fn resumed_window(old: u32, how_old: u64, max_data: u32) -> u32 {
    let p = (3 + how_old / 10) as f64 / how_old.max(7) as f64;
    ((f64::from(old) * p) as u32).max(2 * max_data)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn switches(rtts_ms: &[u64]) -> Vec<bool> {
        let mut spc = Spc::default();
        let threshold = Duration::from_millis(200);
        rtts_ms
            .iter()
            .map(|&ms| spc.on_sack(Some(Duration::from_millis(ms)), threshold))
            .collect()
    }

    #[test]
    fn two_rises_in_succession_above_the_threshold_switch() {
        assert_eq!(switches(&[201, 202, 203]), [false, false, true]);
    }

    #[test]
    fn a_rise_from_below_the_threshold_or_a_pause_in_it_does_not() {
        assert_eq!(switches(&[200, 202, 203]), [false; 3]);
        assert_eq!(switches(&[201, 202, 202, 203]), [false; 4]);
        assert_eq!(switches(&[203, 202, 204, 205]), [false, false, false, true]);
    }

    #[test]
    fn a_switch_begins_anew() {
        let mut spc = Spc::default();
        let threshold = Duration::from_millis(1);
        for ms in [2, 3, 4] {
            spc.on_sack(Some(Duration::from_millis(ms)), threshold);
        }
        assert_eq!(spc.on_switch(), 3);
        assert!(!spc.on_sack(Some(Duration::from_millis(9)), threshold));
        assert_eq!(spc.on_switch(), 1);
    }

    /// HowOld 5: 3/7. HowOld 35: (3 + 3)/35. HowOld 1000: 103/1000, which is less than two packets.
    #[test]
    fn equations_6_3_and_6_4_worked_by_hand() {
        assert_eq!(resumed_window(70_000, 5, 1456), 30_000);
        assert_eq!(resumed_window(70_000, 35, 1456), 12_000);
        assert_eq!(resumed_window(10_000, 1000, 1456), 2912);
    }
}
