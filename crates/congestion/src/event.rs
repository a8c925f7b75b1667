//! The events that a controller receives. Segments are numbered from 0 in the order in which they are first sent.

use units::{Duration, Instant};

use crate::telemetry::PathRecord;

/// An acknowledgement arrived. It carries all feedback marks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AckEvent {
    /// The time of arrival.
    pub now: Instant,
    /// Number of segments acknowledged so far, including by this acknowledgement: segments `0..acked` have arrived.
    pub acked: u64,
    /// How many of them this acknowledgement added. 0 for a duplicate.
    pub newly_acked: u64,
    /// Number of consecutive duplicates, including this one. 0 for an acknowledgement of new data.
    pub duplicates: u32,
    /// The number of the next segment to send, before anything is sent in response.
    pub next: u64,
    /// Segments in flight after this acknowledgement: sent, and acknowledged neither cumulatively nor selectively.
    pub in_flight: u64,
    /// The fine-grained round-trip time of the newest segment covered, if that was sent only once.
    pub rtt: Option<Duration>,
    /// The same in seconds, by a floating-point clock like that of the papers' simulator, including its rounding.
    /// `None` if there is no such clock.
    pub floating_rtt: Option<f64>,
    /// When the acknowledgement arrived by that clock, in seconds since the first segment was last sent.
    pub floating_now: Option<f64>,
    /// The round-trip time of the segment that caused this acknowledgement, from its echoed timestamp. Retransmissions
    /// and duplicates also have one.
    pub echoed_rtt: Option<Duration>,
    /// AQT-Echo: the queueing time of the data segment on the forward path. `None` means no information.
    pub aqt_echo: Option<QueueingTime>,
    /// AQT: the queueing time of this acknowledgement on the backward path. `None` means no information.
    pub aqt_backward: Option<QueueingTime>,
    /// MRAI-Echo, 1 to 6. `None` if no hop has set it.
    pub mrai: Option<u8>,
    /// CI-echo: the data segment was waiting in a queue that refused a packet.
    pub ci_echo: bool,
    /// CSIG: the report of the worst hops on the forward path. `None` if nothing was reflected.
    pub csig: Option<PathSignal>,
    /// TCP-INT: the sum of the hops' latencies on the forward path. `None` if no hop has written it, or nothing was
    /// echoed.
    pub hop_latency: Option<Duration>,
    /// The values that hops wrote into the flow's declared marks on the forward path, in the order of declaration.
    pub marks: MarkValues,
    /// The same on this acknowledgement's backward path.
    pub backward_marks: MarkValues,
    /// The records of the hops on the forward path (INT). `None` if there is nothing readable.
    pub path: Option<PathRecord>,
    /// The receiver's clock minus the echoed sender's clock, in nanoseconds: forward delay plus clock offset.
    pub ts_forward: Option<i64>,
    /// The sender's clock minus the receiver's, in nanoseconds: backward delay plus clock offset.
    pub ts_backward: Option<i64>,
    /// Segments that this acknowledgement newly reports as arrived, selectively or cumulatively. Duplicates also have
    /// some. This field and all fields below are 0 in the ns-2 profile.
    pub newly_delivered: u64,
    /// Segments detected as lost since the last acknowledgement.
    pub newly_lost: u64,
    /// The part of [`AckEvent::newly_delivered`] for which a congestion mark was echoed: the marked ones with accurate
    /// feedback (RFC 8257, §3.2), otherwise all segments of an acknowledgement with ECN-Echo.
    pub newly_marked: u64,
    /// Whether the window was not full when this acknowledgement arrived: the application or the receiver's window held
    /// the sender back, so that the window was not tested (RFC 9293, §3.8.6; RFC 9438, §5.8).
    pub window_unused: bool,
    /// The recent delivery rate of the path. `None` if the acknowledgement allows no sample.
    pub rate: Option<RateSample>,
}

impl AckEvent {
    /// [`AckEvent::rtt`] in seconds, from the floating-point clock if there is one.
    pub fn rtt_s(&self) -> Option<f64> {
        self.floating_rtt.or(self.rtt.map(Duration::as_secs_f64))
    }

    /// How many acknowledgements this one stands for. In the modern profile an acknowledgement may cover several
    /// segments, each of which counts (RFC 3465). In the ns-2 profile it is always one.
    pub fn weight(&self) -> f64 {
        self.newly_delivered.max(1) as f64
    }
}

/// A delivery-rate sample (draft-cheng-iccrg-delivery-rate-estimation-02, §3): the data delivered between the sending
/// of the newest segment that an acknowledgement covers, and the acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RateSample {
    /// Segments delivered in [`RateSample::interval`].
    pub delivered: u64,
    /// The longer of the sampled flight's sending time and its acknowledgement time. Never zero.
    pub interval: Duration,
    /// Total number of delivered segments when the sampled segment was sent. A round ends when this reaches the
    /// [`RateSample::total_delivered`] of its start.
    pub prior_delivered: u64,
    /// Total number of delivered segments.
    pub total_delivered: u64,
    /// Segments in flight when the sampled segment was sent, including itself.
    pub prior_in_flight: u64,
    /// Segments detected as lost between the sending of the sampled segment and now.
    pub lost: u64,
    /// The sampled segment's round-trip time, from its newest transmission.
    pub rtt: Duration,
    /// Whether the application rather than the window limited the flight.
    pub app_limited: bool,
}

impl RateSample {
    /// Segments per second.
    pub fn per_second(&self) -> f64 {
        self.delivered as f64 / self.interval.as_secs_f64()
    }
}

/// The fields of the marks that a flow declares. Empty if it declares none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MarkValues {
    values: [u64; Self::MAX],
    len: u8,
}

impl MarkValues {
    /// The maximum number of fields in all marks of a flow.
    pub const MAX: usize = 8;

    /// Appends a value. Returns `false`, without any change, if there is no room.
    pub fn push(&mut self, value: u64) -> bool {
        let Some(slot) = self.values.get_mut(usize::from(self.len)) else {
            return false;
        };
        *slot = value;
        self.len += 1;
        true
    }

    /// The values.
    pub fn as_slice(&self) -> &[u64] {
        &self.values[..usize::from(self.len)]
    }
}

/// A queueing time as read from a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueingTime {
    /// The whole queueing time.
    Exactly(Duration),
    /// The mark was saturated: the time is at least this.
    AtLeast(Duration),
}

impl QueueingTime {
    /// The time, if it is exact.
    pub fn exact(self) -> Option<Duration> {
        match self {
            QueueingTime::Exactly(time) => Some(time),
            QueueingTime::AtLeast(_) => None,
        }
    }
}

/// The values of the worst hop on the data path, from CSIG tags. Each data packet requests one value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathSignal {
    /// The maximum delay of a single hop.
    pub hop_delay: Option<Duration>,
    /// The minimum available bandwidth, as a fraction of its link's capacity: 0 to 1.
    pub available_share: Option<f64>,
    /// Hops measure available bandwidth in intervals of this length, and report the last complete one.
    pub interval: Duration,
}

/// How a loss was detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// Three duplicate acknowledgements, or equivalent selective acknowledgements.
    Duplicates,
    /// A duplicate arrived when the segment was older than the fine-grained timeout (Vegas).
    FineTimeout,
    /// A segment sent later arrived long enough ago (RACK, RFC 8985).
    Time,
    /// No loss: a congestion mark was echoed ([`crate::Controller::on_congestion_mark`]).
    Mark,
}

/// Loss recovery has detected a loss and is about to resend the segment. The ns-2 profile reports every fast
/// retransmit. The modern profile reports the first loss of a recovery here, and later ones in
/// [`AckEvent::newly_lost`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossEvent {
    /// The time of detection.
    pub now: Instant,
    /// How it was detected.
    pub evidence: Evidence,
    /// The lost segment.
    pub lost: u64,
    /// When that segment was last sent. `None` if it was never sent.
    pub sent_at: Option<Instant>,
    /// Number of transmissions of that segment so far.
    pub transmissions: u32,
    /// Number of consecutive duplicates, including the one that indicated the loss.
    pub duplicates: u32,
    /// The window in use, `W`: whole segments, limited by the receiver's window.
    pub window: u64,
}

/// The retransmission timer expired.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeoutEvent {
    /// The time of expiry.
    pub now: Instant,
    /// The window in use, `W`: whole segments, limited by the receiver's window.
    pub window: u64,
}

/// A segment arrived without its payload, because a full queue trimmed it. It will be sent again, and does not count as
/// lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrimEvent {
    /// When the receiver's notice arrived.
    pub now: Instant,
    /// The segment.
    pub segment: u64,
    /// The time from sending the segment to the notice, if the segment was sent only once.
    pub rtt: Option<Duration>,
    /// Segments in flight, without this one.
    pub in_flight: u64,
}
