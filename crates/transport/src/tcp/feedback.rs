//! Marks on segments: echoing them at the receiver, decoding them at the sender.

use congestion::{AckEvent, MarkValues, PathRecord, PathSignal, QueueingTime};
use units::Duration;

use super::int::Int;
use super::mark::Marks;
use super::segment::{Aqt, Avbw, Flags, SackBlocks, Segment};

/// The marks of one acknowledgement, decoded.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Feedback {
    /// Blocks of selectively acknowledged segments, newest first.
    blocks: [(u64, u64); SackBlocks::MAX],
    block_count: usize,
    /// The round-trip time from the echoed timestamp.
    pub(super) echoed_rtt: Option<Duration>,
    ts_forward: Option<i64>,
    ts_backward: Option<i64>,
    aqt_echo: Option<QueueingTime>,
    aqt_backward: Option<QueueingTime>,
    mrai: Option<u8>,
    ci_echo: bool,
    /// The report of CSIG's reflected tags.
    pub(super) csig: Option<PathSignal>,
    /// The sum of the hops' latencies that TCP-INT echoes.
    hop_latency: Option<Duration>,
    marks: MarkValues,
    backward_marks: MarkValues,
    path: Option<PathRecord>,
}

impl Feedback {
    /// Decodes the marks of `ack` for the data sender, whose clock shows `clock_us` and which
    /// declared `marks`.
    pub(super) fn decode(ack: &Segment, clock_us: u32, marks: &Marks) -> Self {
        let stamps = ack.timestamps;
        let (marks, backward_marks) = marks.read(&ack.options);
        let rtt_us = stamps.map(|stamps| clock_us.wrapping_sub(stamps.echo));
        Feedback {
            echoed_rtt: rtt_us.map(|us| Duration::from_micros(u64::from(us))),
            ts_forward: stamps.map(|stamps| apart_ns(stamps.value, stamps.echo)),
            ts_backward: stamps.map(|stamps| apart_ns(clock_us, stamps.value)),
            aqt_echo: ack.aqt.map(|aqt| queueing_time(aqt.echo_us)),
            aqt_backward: ack.aqt.map(|aqt| queueing_time(aqt.time_us)),
            mrai: ack
                .avbw
                .map(|avbw| avbw.mrai_echo)
                .filter(|mrai| (1..=6).contains(mrai)),
            hop_latency: ack.tcp_int.and_then(|option| option.echo.hop_latency()),
            ci_echo: ack.flags.contains(Flags::ECE),
            marks,
            backward_marks,
            path: ack.int.as_ref().and_then(Int::told),
            ..Feedback::default()
        }
    }

    /// Discards the timestamps.
    pub(super) fn forget_timestamps(&mut self) {
        (self.echoed_rtt, self.ts_forward, self.ts_backward) = (None, None, None);
    }

    /// Adds a block of segments `left..right`.
    pub(super) fn add_block(&mut self, left: u64, right: u64) {
        if left < right && self.block_count < SackBlocks::MAX {
            self.blocks[self.block_count] = (left, right);
            self.block_count += 1;
        }
    }

    /// The blocks of selectively acknowledged segments, newest first.
    pub(super) fn sacked(&self) -> &[(u64, u64)] {
        &self.blocks[..self.block_count]
    }

    /// Copies the marks into an event.
    pub(super) fn apply(&self, event: &mut AckEvent) {
        event.aqt_echo = self.aqt_echo;
        event.aqt_backward = self.aqt_backward;
        event.mrai = self.mrai;
        event.ci_echo = self.ci_echo;
        event.csig = self.csig;
        event.hop_latency = self.hop_latency;
        event.marks = self.marks;
        event.backward_marks = self.backward_marks;
        event.path = self.path;
        event.ts_forward = self.ts_forward;
        event.ts_backward = self.ts_backward;
        event.echoed_rtt = self.echoed_rtt;
    }
}

/// `later − earlier` for two clocks in microseconds that wrap around, in nanoseconds.
fn apart_ns(later: u32, earlier: u32) -> i64 {
    i64::from(later.wrapping_sub(earlier) as i32) * 1000
}

fn queueing_time(us: u32) -> QueueingTime {
    let time = Duration::from_micros(u64::from(us));
    if us >= Aqt::MAX_US {
        QueueingTime::AtLeast(time)
    } else {
        QueueingTime::Exactly(time)
    }
}

/// The AQT option of an acknowledgement that `data` caused: the data's AQT is echoed, and its own
/// is to be collected. If the data has no option, neither does the acknowledgement.
pub(super) fn echo_aqt(data: Option<Aqt>) -> Option<Aqt> {
    data.map(|aqt| Aqt {
        time_us: 0,
        echo_us: aqt.time_us,
    })
}

/// The AVBW-S option of an acknowledgement that `data` caused.
pub(super) fn echo_avbw(data: Option<Avbw>) -> Option<Avbw> {
    data.map(|avbw| Avbw {
        drai: Avbw::SILENT,
        mrai_echo: avbw.drai,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(aqt: Option<Aqt>, mrai_echo: u8) -> Segment {
        Segment {
            aqt,
            avbw: Some(Avbw { drai: 3, mrai_echo }),
            ..Segment::default()
        }
    }

    #[test]
    fn a_saturated_mark_means_at_least() {
        let feedback = Feedback::decode(
            &ack(
                Some(Aqt {
                    time_us: 7,
                    echo_us: 0xFF_FFFF,
                }),
                1,
            ),
            0,
            &Marks::default(),
        );
        assert_eq!(
            feedback.aqt_backward,
            Some(QueueingTime::Exactly(Duration::from_micros(7)))
        );
        assert_eq!(
            feedback.aqt_echo,
            Some(QueueingTime::AtLeast(Duration::from_micros(0xFF_FFFF)))
        );
    }

    #[test]
    fn no_option_is_no_information() {
        let feedback = Feedback::decode(&ack(None, 1), 0, &Marks::default());
        assert_eq!((feedback.aqt_echo, feedback.aqt_backward), (None, None));
        assert_eq!(echo_aqt(None), None);
    }

    #[test]
    fn only_the_indices_one_to_six_are_acted_on() {
        let mrai = |echo| Feedback::decode(&ack(None, echo), 0, &Marks::default()).mrai;
        assert_eq!(
            [mrai(0), mrai(1), mrai(6), mrai(7), mrai(0xFF)],
            [None, Some(1), Some(6), None, None]
        );
    }

    #[test]
    fn the_echo_starts_collecting_afresh() {
        let data = Aqt {
            time_us: 41,
            echo_us: 9,
        };
        assert_eq!(
            echo_aqt(Some(data)),
            Some(Aqt {
                time_us: 0,
                echo_us: 41
            })
        );
    }
}
