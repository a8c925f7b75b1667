//! The standard window (RFC 9260, §7.2), "Std" in Dahal 2007, ch. 6.

use super::{SackEvent, Sizes, Window};

/// Slow start, congestion avoidance and reductions.
#[derive(Clone, Debug)]
pub struct Standard {
    sizes: Sizes,
    cwnd: u32,
    ssthresh: u32,
    /// Octets acknowledged since the last growth in congestion avoidance.
    partial: u32,
}

impl Standard {
    /// Creates a window.
    pub const fn new(sizes: Sizes) -> Self {
        Standard {
            sizes,
            cwnd: sizes.initial,
            ssthresh: sizes.ssthresh,
            partial: 0,
        }
    }

    fn halved(&self) -> u32 {
        (self.cwnd / 2).max(self.sizes.least)
    }
}

impl Window for Standard {
    fn octets(&self) -> u32 {
        self.cwnd
    }

    fn ssthresh(&self) -> u32 {
        self.ssthresh
    }

    fn on_sack(&mut self, event: &SackEvent) {
        let grows = event.may_change(self.cwnd);
        if self.cwnd > self.ssthresh {
            // §7.2.2, as interpreted in ns-2: octets acknowledged by gap blocks also count if the window was not full.
            let is_full = event.in_flight >= self.cwnd;
            if event.advanced {
                let octets = if is_full {
                    event.newly_acked
                } else {
                    event.gap_acked
                };
                self.partial = self.partial.saturating_add(octets);
            }
            if grows && self.partial >= self.cwnd {
                self.partial -= self.cwnd;
                self.cwnd = self.cwnd.saturating_add(self.sizes.max_data);
            }
        } else if grows {
            // §7.2.1
            let growth = event.newly_acked.min(self.sizes.max_data);
            self.cwnd = self.cwnd.saturating_add(growth);
        }
        if event.in_flight <= event.newly_acked {
            // Everything is acknowledged.
            self.partial = 0;
        }
    }

    /// §7.2.3.
    fn on_loss(&mut self) {
        self.ssthresh = self.halved();
        self.cwnd = self.ssthresh;
        self.partial = 0;
    }

    /// §7.2.3. A window of one packet cannot be reduced, so its threshold does not change.
    fn on_timeout(&mut self) {
        if self.cwnd <= self.sizes.max_data {
            return;
        }
        self.ssthresh = self.halved();
        self.cwnd = self.sizes.max_data;
        self.partial = 0;
    }

    /// §7.2.1. A window of up to two packets, the initial window of RFC 2960, does not change.
    fn on_idle(&mut self) {
        if self.cwnd > 2 * self.sizes.max_data {
            self.cwnd = self.halved();
        }
    }

    fn resume(&mut self, octets: u32) {
        self.cwnd = octets;
        self.partial = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: u32 = 1468;

    fn window(cwnd: u32, ssthresh: u32) -> Standard {
        Standard::new(Sizes {
            max_data: MAX,
            initial: cwnd,
            ssthresh,
            least: 2 * MAX,
        })
    }

    fn full(window: &Standard, newly_acked: u32) -> SackEvent {
        SackEvent {
            advanced: true,
            newly_acked,
            in_flight: window.octets(),
            ..SackEvent::default()
        }
    }

    #[test]
    fn slow_start_adds_what_is_acknowledged_up_to_a_packet() {
        let mut std = window(2 * MAX, 65_536);
        std.on_sack(&full(&std, 1000));
        assert_eq!(std.octets(), 2 * MAX + 1000);
        std.on_sack(&full(&std, 2 * MAX));
        assert_eq!(std.octets(), 3 * MAX + 1000);
    }

    #[test]
    fn a_window_that_is_not_full_or_a_sack_that_does_not_advance_adds_nothing() {
        let mut std = window(2 * MAX, 65_536);
        let event = full(&std, MAX);
        std.on_sack(&SackEvent {
            in_flight: event.in_flight - 1,
            ..event
        });
        std.on_sack(&SackEvent {
            advanced: false,
            ..event
        });
        std.on_sack(&SackEvent {
            recovering: true,
            ..event
        });
        assert_eq!(std.octets(), 2 * MAX);
    }

    /// At cwnd 10000 above ssthresh 8000: 7 SACKs of 1468 make 10276 ≥ 10000, one packet more.
    #[test]
    fn avoidance_adds_a_packet_for_each_window_acknowledged() {
        let mut std = window(10_000, 8_000);
        for _ in 0..6 {
            std.on_sack(&full(&std, MAX));
        }
        assert_eq!((std.octets(), std.partial), (10_000, 6 * MAX));
        std.on_sack(&full(&std, MAX));
        assert_eq!((std.octets(), std.partial), (10_000 + MAX, 276));
    }

    #[test]
    fn a_loss_halves_and_a_timeout_leaves_one_packet() {
        let mut std = window(20_000, 65_536);
        std.on_loss();
        assert_eq!((std.octets(), std.ssthresh()), (10_000, 10_000));
        std.on_timeout();
        assert_eq!((std.octets(), std.ssthresh()), (MAX, 5_000));
        std.on_timeout();
        assert_eq!((std.octets(), std.ssthresh()), (MAX, 5_000));
    }

    #[test]
    fn an_idle_path_decays_to_the_least_window() {
        let mut std = window(2 * MAX, 65_536);
        std.on_idle();
        assert_eq!(std.octets(), 2 * MAX);
        std.resume(10_000);
        std.on_idle();
        assert_eq!(std.octets(), 5_000);
        std.on_idle();
        assert_eq!(std.octets(), 2 * MAX);
    }
}
