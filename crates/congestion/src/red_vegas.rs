//! RedVegas (Chan 2004, §6.3): Vegas that distinguishes random losses from congestion.
//!
//! A router that drops a packet marks the packets that wait in its queue, including the newest of
//! this flow. A loss without a mark near it was random, and does not reduce the window.

use crate::controller::{Controller, Factory, Limits, Snapshot, Verdicts};
use crate::event::{AckEvent, LossEvent, TimeoutEvent};
use crate::registry::{Control, Mark, Recovery};
use crate::vegas::{THRESHOLDS, Vegas, VegasConfig};
use units::Instant;

pub(crate) static RED_VEGAS: Control = Control {
    name: "redvegas",
    label: "RedVegas",
    summary: "Vegas that distinguishes random losses from congestion",
    source: "Chan 2004, §6.3",
    recovery: Recovery::Vegas,
    marks: &[Mark::Ci],
    needs: &[],
    settings: &THRESHOLDS,
    factory: |settings, rules| {
        Box::new(RedVegasConfig {
            vegas: VegasConfig::of(settings, rules),
        })
    },
};

/// Settings of [`RedVegas`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RedVegasConfig {
    /// The thresholds. β is also the maximum distance of a loss from a mark.
    pub vegas: VegasConfig,
}

impl RedVegasConfig {
    /// Creates a controller for a new connection.
    pub fn build(&self, limits: &Limits) -> RedVegas {
        RedVegas {
            vegas: self.vegas.build(limits),
            beta: self.vegas.beta,
            ncseq: None,
            verdicts: Verdicts::default(),
        }
    }
}

impl Factory for RedVegasConfig {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        Box::new(self.build(limits))
    }
}

/// Vegas that classifies its losses.
#[derive(Clone, Debug)]
pub struct RedVegas {
    vegas: Vegas,
    beta: f64,
    /// The newest acknowledged segment when CI-echo was last received.
    ncseq: Option<u64>,
    verdicts: Verdicts,
}

impl RedVegas {
    fn note_mark(&mut self, ack: &AckEvent) {
        if ack.ci_echo {
            self.ncseq = ack.acked.checked_sub(1).or(self.ncseq);
        }
    }

    /// `|lost − NCSEQ| ≤ β`.
    fn is_congestion(&self, lost: u64) -> bool {
        self.ncseq
            .is_some_and(|ncseq| lost.abs_diff(ncseq) as f64 <= self.beta)
    }
}

impl Controller for RedVegas {
    fn cwnd(&self) -> f64 {
        self.vegas.cwnd()
    }

    fn ssthresh(&self) -> f64 {
        self.vegas.ssthresh()
    }

    fn on_sent(&mut self, now: Instant, segment: u64) {
        self.vegas.on_sent(now, segment);
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        self.note_mark(ack);
        self.vegas.on_ack(ack);
    }

    fn on_duplicate_ack(&mut self, ack: &AckEvent) {
        self.note_mark(ack);
        self.vegas.on_duplicate_ack(ack);
    }

    fn on_departure(&mut self, now: Instant) {
        self.vegas.on_departure(now);
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        self.verdicts.newest = Some(loss.lost);
        if self.is_congestion(loss.lost) {
            self.verdicts.congestion += 1;
            self.vegas.on_loss(loss);
        } else {
            self.verdicts.random += 1;
            self.vegas.keep_window(loss);
        }
    }

    fn on_recovered(&mut self, now: Instant) {
        self.vegas.on_recovered(now);
    }

    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        self.vegas.on_timeout(timeout);
    }

    fn verdicts(&self) -> Verdicts {
        self.verdicts
    }

    fn snapshot(&self) -> Snapshot {
        self.vegas.snapshot()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Evidence;

    /// A loss of segment 20 with a window of 12, after a mark on the acknowledgement of `marked`.
    /// Returns cwnd immediately, cwnd after a recovery with a fourth duplicate, and the verdicts.
    fn lose(marked: Option<u64>) -> (f64, f64, Verdicts) {
        let mut red = RedVegasConfig::default().build(&Limits {
            initial_window: 12.0,
            ..Limits::default()
        });
        red.on_ack(&AckEvent {
            acked: 2,
            newly_acked: 1,
            next: 2,
            ..AckEvent::default()
        });
        if let Some(marked) = marked {
            red.on_duplicate_ack(&AckEvent {
                acked: marked + 1,
                ci_echo: true,
                ..AckEvent::default()
            });
        }
        red.on_loss(&LossEvent {
            now: Instant::from_micros(2_000_000),
            evidence: Evidence::Duplicates,
            lost: 20,
            sent_at: Some(Instant::from_micros(1_000_000)),
            transmissions: 1,
            duplicates: 3,
            window: 12,
        });
        let cwnd = red.cwnd();
        red.on_departure(Instant::from_micros(2_050_000));
        red.on_recovered(Instant::from_micros(2_100_000));
        (cwnd, red.cwnd(), red.verdicts())
    }

    fn verdicts(random: u64, congestion: u64) -> Verdicts {
        Verdicts {
            random,
            congestion,
            newest: Some(20),
        }
    }

    #[test]
    fn a_mark_within_beta_makes_it_congestion() {
        // |20 − 17| = 3 ≤ β: 12 − 12/4 = 9, plus 3 for the duplicates in between.
        assert_eq!(lose(Some(17)), (12.0, 9.0, verdicts(0, 1)));
    }

    #[test]
    fn without_a_mark_near_it_the_window_stays() {
        assert_eq!(lose(Some(16)), (12.0, 12.0, verdicts(1, 0)));
        assert_eq!(lose(None), (12.0, 12.0, verdicts(1, 0)));
    }
}
