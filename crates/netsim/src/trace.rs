//! A TCP sender's state after each change, as columns.

use congestion::QueueingTime;
use units::{Duration, Instant};

/// A TCP sender's state after each change. All columns have the same length. NaN marks a change without a value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// The time, in seconds.
    pub time_s: Vec<f64>,
    /// The cause of the change.
    pub change: Labels,
    /// The phase of the congestion control.
    pub phase: Labels,
    /// Congestion window, packets.
    pub cwnd: Vec<f64>,
    /// Slow-start threshold, packets.
    pub ssthresh: Vec<f64>,
    /// Packets sent and not acknowledged.
    pub in_flight: Vec<u64>,
    /// Packets acknowledged so far.
    pub acked: Vec<u64>,
    /// The next packet to send.
    pub next: Vec<u64>,
    /// Round-trip time, seconds.
    pub rtt_s: Vec<f64>,
    /// The controller's base round-trip time, seconds.
    pub base_rtt_s: Vec<f64>,
    /// Vegas' Diff of the last round, packets.
    pub diff: Vec<f64>,
    /// Forward queueing time (AQT-Echo), seconds.
    pub aqt_forward_s: Vec<f64>,
    /// Backward queueing time (AQT), seconds.
    pub aqt_backward_s: Vec<f64>,
    /// MRAI-Echo, 1 to 6. 0 if no hop has set it.
    pub mrai: Vec<u8>,
    /// Whether congestion was indicated (CI-echo).
    pub ci: Vec<bool>,
    /// Number of losses classified as random so far.
    pub random_losses: Vec<u64>,
    /// Number of losses classified as congestion so far.
    pub congestion_losses: Vec<u64>,
}

/// A column with few distinct names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// The names, in the order of first use.
    pub names: Vec<&'static str>,
    /// Each row's index into the names.
    pub codes: Vec<u8>,
}

/// Which changes are recorded.
#[derive(Clone, Copy, Debug)]
pub struct Keep {
    /// Start of the recorded time.
    pub from: Instant,
    /// End of the recorded time.
    pub to: Instant,
    /// Minimum interval between rows, except for timeouts. Zero records every change.
    pub apart: Duration,
}

/// Records a trace.
#[derive(Debug)]
pub struct Tracer {
    keep: Keep,
    /// The time of the next row.
    due: Instant,
    trace: Trace,
}

impl Labels {
    /// The name in row `row`.
    pub fn get(&self, row: usize) -> Option<&'static str> {
        let code = *self.codes.get(row)?;
        self.names.get(usize::from(code)).copied()
    }

    fn push(&mut self, name: &'static str) {
        let code = self.names.iter().position(|known| *known == name);
        let code = code.unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        });
        self.codes.push(code as u8);
    }
}

impl Tracer {
    /// Creates an empty trace.
    pub fn new(keep: Keep) -> Self {
        Tracer {
            keep,
            due: keep.from,
            trace: Trace::default(),
        }
    }

    /// Records a change, if it is to be kept.
    pub fn record(&mut self, change: &transport::tcp::Trace) {
        let Keep { from, to, apart } = self.keep;
        let due = change.now >= self.due || change.change == transport::tcp::Change::Timeout;
        if !due || change.now < from || change.now >= to {
            return;
        }
        self.due = change.now + apart;
        self.trace.push(change);
    }

    /// Removes and returns the rows so far.
    pub fn take(&mut self) -> Trace {
        std::mem::take(&mut self.trace)
    }

    /// Returns the trace.
    pub fn finish(self) -> Trace {
        self.trace
    }
}

impl Trace {
    fn push(&mut self, record: &transport::tcp::Trace) {
        let seconds = |d: Option<Duration>| d.map_or(f64::NAN, Duration::as_secs_f64);
        let exact = |q: Option<QueueingTime>| seconds(q.and_then(QueueingTime::exact));
        let controller = &record.controller;
        self.time_s.push(record.now.as_secs_f64());
        self.change.push(record.change.name());
        self.phase.push(controller.phase.name());
        self.cwnd.push(controller.cwnd);
        self.ssthresh.push(controller.ssthresh);
        self.in_flight.push(record.in_flight);
        self.acked.push(record.acked);
        self.next.push(record.next);
        self.rtt_s.push(seconds(record.rtt));
        self.base_rtt_s.push(seconds(controller.base_rtt));
        self.diff.push(controller.diff.unwrap_or(f64::NAN));
        self.aqt_forward_s.push(exact(record.aqt_echo));
        self.aqt_backward_s.push(exact(record.aqt_backward));
        self.mrai.push(record.mrai.unwrap_or(0));
        self.ci.push(record.ci_echo);
        self.random_losses.push(record.verdicts.random);
        self.congestion_losses.push(record.verdicts.congestion);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use congestion::{Phase, Snapshot, Verdicts};
    use transport::tcp::Change;

    fn change(ms: u64, change: Change) -> transport::tcp::Trace {
        transport::tcp::Trace {
            now: Instant::from_nanos(ms * 1_000_000),
            change,
            acked: 0,
            next: 0,
            in_flight: 0,
            rtt: None,
            aqt_echo: None,
            aqt_backward: None,
            mrai: None,
            ci_echo: false,
            verdicts: Verdicts::default(),
            controller: Snapshot {
                cwnd: 1.0,
                ssthresh: 2.0,
                phase: Phase::SlowStart,
                base_rtt: None,
                diff: None,
            },
        }
    }

    fn traced(keep: Keep, changes: &[(u64, Change)]) -> Trace {
        let mut tracer = Tracer::new(keep);
        for &(ms, what) in changes {
            tracer.record(&change(ms, what));
        }
        tracer.finish()
    }

    #[test]
    fn rows_keep_their_distance_but_timeouts_are_all_there() {
        let keep = Keep {
            from: Instant::from_nanos(2_000_000),
            to: Instant::from_nanos(40_000_000),
            apart: Duration::from_nanos(10_000_000),
        };
        let changes = [
            (1, Change::Sent),
            (3, Change::Ack),
            (12, Change::Ack),
            (12, Change::Timeout),
            (13, Change::Ack),
            (22, Change::Resent),
            (40, Change::Timeout),
        ];
        let trace = traced(keep, &changes);
        assert_eq!(trace.time_s, [0.003, 0.012, 0.022]);
        assert_eq!(trace.change.names, ["ack", "timeout", "resent"]);
        assert_eq!(trace.change.codes, [0, 1, 2]);
        assert_eq!(trace.phase.get(2), Some("slow_start"));
    }

    #[test]
    fn every_change_of_one_moment_is_kept_by_default() {
        let keep = Keep {
            from: Instant::ZERO,
            to: Instant::MAX,
            apart: Duration::ZERO,
        };
        let trace = traced(
            keep,
            &[(5, Change::Ack), (5, Change::Sent), (5, Change::Sent)],
        );
        assert_eq!(trace.change.codes, [0, 1, 1]);
        assert!(trace.rtt_s[0].is_nan());
    }
}
