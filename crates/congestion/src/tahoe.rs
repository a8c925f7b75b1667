//! Tahoe (Jacobson, SIGCOMM 1988): slow start and congestion avoidance like Reno, one segment after
//! any loss.

use crate::controller::{Controller, Factory, Limits};
use crate::event::{AckEvent, LossEvent, TimeoutEvent};
use crate::registry::{Control, Recovery};
use crate::reno::{Reno, RenoConfig};

pub(crate) static TAHOE: Control = Control {
    name: "tahoe",
    label: "Tahoe",
    summary: "reduces the window to one segment after any loss",
    source: "Jacobson 1988",
    recovery: Recovery::Tahoe,
    marks: &[],
    needs: &[],
    settings: &[],
    factory: |_, _| Box::new(TahoeConfig {}),
};

/// Settings of [`Tahoe`]; there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TahoeConfig {}

impl TahoeConfig {
    /// Creates a controller for a new connection.
    pub fn build(&self, limits: &Limits) -> Tahoe {
        Tahoe {
            reno: RenoConfig {}.build(limits),
        }
    }
}

impl Factory for TahoeConfig {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        Box::new(self.build(limits))
    }
}

/// Reno's growth. Every loss is handled like a timeout.
#[derive(Clone, Debug)]
pub struct Tahoe {
    reno: Reno,
}

impl Controller for Tahoe {
    fn cwnd(&self) -> f64 {
        self.reno.cwnd()
    }

    fn ssthresh(&self) -> f64 {
        self.reno.ssthresh()
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        self.reno.on_ack(ack);
    }

    /// Slow start continues while the hole is filled.
    fn on_partial_ack(&mut self, ack: &AckEvent) {
        self.reno.on_ack(ack);
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        self.on_timeout(&TimeoutEvent {
            now: loss.now,
            window: loss.window,
        });
    }

    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        self.reno.on_timeout(timeout);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Evidence;
    use units::Instant;

    #[test]
    fn a_loss_halves_the_threshold_and_starts_over() {
        let mut tahoe = TahoeConfig {}.build(&Limits::default());
        tahoe.on_loss(&LossEvent {
            now: Instant::ZERO,
            evidence: Evidence::Duplicates,
            lost: 1,
            sent_at: Some(Instant::ZERO),
            transmissions: 1,
            duplicates: 3,
            window: 9,
        });
        assert_eq!((tahoe.cwnd(), tahoe.ssthresh()), (1.0, 4.0));
    }
}
