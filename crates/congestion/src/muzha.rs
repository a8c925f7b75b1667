//! Muzha (Lien and Chung, §III): the switches on the path determine how to change the window.
//!
//! Two phases without slow start: congestion avoidance by the index that the most loaded hop wrote,
//! and Reno's fast retransmit. If no hop writes an index, it is Reno.

use crate::controller::{Controller, Factory, Limits, Phase, Snapshot};
use crate::event::{AckEvent, LossEvent, TimeoutEvent};
use crate::registry::{Control, Mark, Recovery};
use crate::reno::{Reno, RenoConfig};

/// No index reduces the window below one segment.
const MIN_WINDOW: f64 = 1.0;

pub(crate) static MUZHA: Control = Control {
    name: "muzha",
    label: "Muzha",
    summary: "changes the window by the switches' rate adjustment index",
    source: "Lien and Chung, §III",
    recovery: Recovery::Reno,
    marks: &[Mark::Avbw],
    needs: &[],
    settings: &[],
    factory: |_, _| Box::new(MuzhaConfig {}),
};

/// Settings of [`Muzha`]; there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MuzhaConfig {}

impl MuzhaConfig {
    /// Creates a controller for a new connection.
    pub fn build(&self, limits: &Limits) -> Muzha {
        Muzha {
            reno: RenoConfig {}.build(limits),
            limits: *limits,
            speaking: false,
            mark: 0,
        }
    }
}

impl Factory for MuzhaConfig {
    fn build(&self, limits: &Limits) -> Box<dyn Controller> {
        Box::new(self.build(limits))
    }
}

/// A window that is controlled by the hops or by Reno.
#[derive(Clone, Debug)]
pub struct Muzha {
    reno: Reno,
    limits: Limits,
    /// Whether the newest acknowledgement carried an index.
    speaking: bool,
    /// The round ends when this segment is acknowledged.
    mark: u64,
}

/// Table 3.1: the window after a round, for an index from 1 to 6.
fn advised(index: u8, cwnd: f64) -> f64 {
    match index {
        6 => cwnd * 3.0,
        5 => cwnd * 1.75,
        4 => cwnd + 2.0,
        3 => cwnd + 1.0,
        2 => cwnd - 1.0,
        _ => cwnd * 0.75,
    }
}

impl Controller for Muzha {
    fn cwnd(&self) -> f64 {
        self.reno.cwnd()
    }

    fn ssthresh(&self) -> f64 {
        self.reno.ssthresh()
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        let Some(index) = ack.mrai else {
            if std::mem::take(&mut self.speaking) {
                // A window that the hops allowed must not cause a slow start.
                self.reno.end_slow_start();
            }
            return self.reno.on_ack(ack);
        };
        self.speaking = true;
        if ack.acked <= self.mark {
            return;
        }
        self.mark = ack.next;
        let cwnd = advised(index, self.reno.cwnd()).max(MIN_WINDOW);
        self.reno.set_cwnd(self.limits.cap(cwnd));
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        self.reno.on_loss(loss);
    }

    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        self.reno.on_timeout(timeout);
    }

    fn snapshot(&self) -> Snapshot {
        let snapshot = self.reno.snapshot();
        Snapshot {
            phase: if self.speaking {
                Phase::Avoidance
            } else {
                snapshot.phase
            },
            ..snapshot
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(acked: u64, next: u64, mrai: Option<u8>) -> AckEvent {
        AckEvent {
            acked,
            newly_acked: 1,
            next,
            mrai,
            ..AckEvent::default()
        }
    }

    fn muzha(cwnd: f64) -> Muzha {
        MuzhaConfig {}.build(&Limits {
            initial_window: cwnd,
            initial_ssthresh: 64.0,
            max_cwnd: Some(1000.0),
            ..Limits::default()
        })
    }

    #[test]
    fn the_index_moves_the_window() {
        for (index, after) in [
            (6, 24.0),
            (5, 14.0),
            (4, 10.0),
            (3, 9.0),
            (2, 7.0),
            (1, 6.0),
        ] {
            let mut muzha = muzha(8.0);
            muzha.on_ack(&ack(1, 9, Some(index)));
            assert_eq!(muzha.cwnd(), after, "index {index}");
        }
    }

    #[test]
    fn once_a_round() {
        let mut muzha = muzha(2.0);
        for (acked, cwnd) in [(1, 3.0), (2, 3.0), (3, 3.0), (4, 4.0)] {
            muzha.on_ack(&ack(acked, acked + 2, Some(3)));
            assert_eq!(muzha.cwnd(), cwnd, "after segment {}", acked - 1);
        }
    }

    #[test]
    fn a_segment_is_left() {
        let mut muzha = muzha(1.0);
        muzha.on_ack(&ack(1, 2, Some(1)));
        assert_eq!(muzha.cwnd(), 1.0);
    }

    #[test]
    fn without_a_hop_that_speaks_it_is_reno() {
        let mut muzha = muzha(1.0);
        muzha.on_ack(&ack(1, 1, None));
        assert_eq!(muzha.cwnd(), 2.0);
        muzha.on_ack(&ack(2, 3, Some(6)));
        assert_eq!(muzha.cwnd(), 6.0);
        muzha.on_ack(&ack(3, 8, None));
        assert_eq!(muzha.cwnd(), 6.0 + 1.0 / 6.0);
    }
}
