//! The deterministic loss model of RFC 3649 and RFC 8312: a loss every 1/p segments, and a constant
//! round-trip time. For tests against their tables of average windows.

use units::{Duration, Instant};

use crate::controller::{Controller, Factory, Limits};
use crate::event::{AckEvent, Evidence, LossEvent};

/// The number of losses before the measured cycles.
const WARM_UP: u32 = 12;
/// The number of measured cycles.
const CYCLES: u32 = 8;

/// The average window over time, in segments, with a loss every `gap` segments. The first loss
/// occurs at the window `start`.
pub(crate) fn average_window(control: &dyn Factory, rtt_s: f64, gap: u64, start: f64) -> f64 {
    let mut control = control.build(&Limits {
        initial_window: start,
        initial_ssthresh: 2.0,
        max_cwnd: None,
        ..Limits::default()
    });
    lose(control.as_mut(), Instant::ZERO, start as u64);
    let mut now_s = 0.0;
    let mut acked = 0;
    let mut losses = 0;
    let (mut weighed, mut elapsed) = (0.0, 0.0);
    while losses < WARM_UP + CYCLES {
        let cwnd = control.cwnd();
        let step = rtt_s / cwnd;
        now_s += step;
        if losses >= WARM_UP {
            weighed += cwnd * step;
            elapsed += step;
        }
        acked += 1;
        let now = Instant::from_secs_f64(now_s);
        if acked % gap == 0 {
            losses += 1;
            lose(control.as_mut(), now, cwnd as u64);
            continue;
        }
        control.on_ack(&AckEvent {
            now,
            acked,
            newly_acked: 1,
            next: acked + cwnd as u64,
            in_flight: cwnd as u64,
            rtt: Some(Duration::from_secs_f64(rtt_s)),
            ..AckEvent::default()
        });
    }
    weighed / elapsed
}

/// A loss that is detected by duplicates at a full `window`.
pub(crate) fn lose(control: &mut dyn Controller, now: Instant, window: u64) {
    control.on_loss(&LossEvent {
        now,
        evidence: Evidence::Duplicates,
        lost: 0,
        sent_at: Some(Instant::ZERO),
        transmissions: 1,
        duplicates: 3,
        window,
    });
}
