//! RTT-based congestion avoidance (Dahal 2007, §6.1.1): the window reacts to the distance of the RTT from a threshold.
//! Losses do not change it.

use super::{SackEvent, Sizes, Window};
use units::Duration;

/// A window by (6.1) and (6.2).
#[derive(Clone, Debug)]
pub struct Rbca {
    sizes: Sizes,
    threshold: Duration,
    /// In octets, including the fraction from equation (6.1).
    cwnd: f64,
}

impl Rbca {
    /// Creates a window that keeps the path's RTT at `threshold`.
    pub fn new(sizes: Sizes, threshold: Duration) -> Self {
        Rbca {
            sizes,
            threshold,
            cwnd: f64::from(sizes.initial),
        }
    }
}

impl Window for Rbca {
    fn octets(&self) -> u32 {
        self.cwnd as u32
    }

    /// There is no slow start.
    fn ssthresh(&self) -> u32 {
        self.sizes.ssthresh
    }

    fn on_sack(&mut self, event: &SackEvent) {
        // There is no reduction, and hence no recovery: only the first of the exceptions to growth applies.
        let event = SackEvent {
            recovering: false,
            ..*event
        };
        let Some(rtt) = event.rtt.filter(|_| event.may_change(self.octets())) else {
            return;
        };
        let (rtt, threshold) = (rtt.as_secs_f64(), self.threshold.as_secs_f64());
        let data = f64::from(event.newly_acked.min(self.sizes.max_data));
        let increment = (threshold - rtt) / rtt.max(threshold) * data; // (6.1)
        let ceiling = f64::from(u32::MAX / 2);
        self.cwnd = (self.cwnd + increment).clamp(f64::from(self.sizes.max_data), ceiling); // (6.2)
    }

    fn on_loss(&mut self) {}

    fn on_timeout(&mut self) {}

    fn on_idle(&mut self) {
        if self.octets() > self.sizes.initial {
            self.cwnd = (self.cwnd / 2.0).max(f64::from(self.sizes.least));
        }
    }

    fn resume(&mut self, octets: u32) {
        self.cwnd = f64::from(octets);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: u32 = 1456;

    fn window() -> Rbca {
        let sizes = Sizes {
            max_data: MAX,
            initial: 2 * MAX,
            ssthresh: 65_536,
            least: 2 * MAX,
        };
        Rbca::new(sizes, Duration::from_millis(200))
    }

    fn sack(window: &Rbca, rtt_ms: u64, newly_acked: u32) -> SackEvent {
        SackEvent {
            advanced: true,
            newly_acked,
            in_flight: window.octets(),
            rtt: Some(Duration::from_millis(rtt_ms)),
            ..SackEvent::default()
        }
    }

    /// T = 200 ms, RTT = 100 ms: (200 − 100)/200 · 1456 = 728. RTT = 400 ms: −200/400 · 1000 = −500.
    #[test]
    fn equation_6_1_worked_by_hand() {
        let mut rbca = window();
        rbca.on_sack(&sack(&rbca, 100, MAX));
        assert_eq!(rbca.octets(), 2 * MAX + 728);
        rbca.on_sack(&sack(&rbca, 400, 1000));
        assert_eq!(rbca.octets(), 2 * MAX + 228);
    }

    #[test]
    fn losses_change_nothing_and_one_packet_is_the_floor() {
        let mut rbca = window();
        rbca.on_loss();
        rbca.on_timeout();
        assert_eq!(rbca.octets(), 2 * MAX);
        for _ in 0..20 {
            rbca.on_sack(&sack(&rbca, 2000, MAX));
        }
        assert_eq!(rbca.octets(), MAX);
    }

    #[test]
    fn a_window_that_is_not_full_stays() {
        let mut rbca = window();
        let event = sack(&rbca, 100, MAX);
        rbca.on_sack(&SackEvent {
            in_flight: MAX,
            ..event
        });
        rbca.on_sack(&SackEvent {
            advanced: false,
            ..event
        });
        assert_eq!(rbca.octets(), 2 * MAX);
    }
}
