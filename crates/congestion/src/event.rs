//! The events that a controller receives. Segments are numbered from 0 in the order in which they are first
//! sent.

use units::{Duration, Instant};

use crate::telemetry::PathRecord;

/// An acknowledgement arrived: the first-class carrier of every feedback mark.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AckEvent {
    /// When it arrived.
    pub now: Instant,
    /// Segments acknowledged so far, this acknowledgement included: segments `0..acked` have
    /// arrived.
    pub acked: u64,
    /// How many of them this acknowledgement added; 0 for a duplicate.
    pub newly_acked: u64,
    /// Duplicates in a row, this one included; 0 for an acknowledgement of new data.
    pub duplicates: u32,
    /// The number of the next segment to send, before anything is sent in answer to this.
    pub next: u64,
    /// Segments in flight: sent and not acknowledged (selectively neither), this acknowledgement
    /// applied.
    pub in_flight: u64,
    /// The fine-grained round-trip time of the newest segment covered, if that was sent only once.
    pub rtt: Option<Duration>,
    /// The same in seconds, by a clock that counts them in floating point as the papers' simulator
    /// does, with what rounding makes of it. `None`: there is no such clock.
    pub floating_rtt: Option<f64>,
    /// When the acknowledgement arrived by that clock, in seconds since the first segment left last.
    pub floating_now: Option<f64>,
    /// The round-trip time of the segment that caused this acknowledgement, by its echoed
    /// timestamp; resends and duplicates have one as well.
    pub echoed_rtt: Option<Duration>,
    /// AQT-Echo: the queueing time of the data segment on its way there. `None`: no information.
    pub aqt_echo: Option<QueueingTime>,
    /// AQT: the queueing time of this acknowledgement on its way back. `None`: no information.
    pub aqt_backward: Option<QueueingTime>,
    /// MRAI-Echo, 1 to 6. `None`: no hop has spoken.
    pub mrai: Option<u8>,
    /// CI-echo: the data segment was waiting in a queue that refused a packet.
    pub ci_echo: bool,
    /// CSIG: what the worst hops of the data's way there reported. `None`: nothing was reflected.
    pub csig: Option<PathSignal>,
    /// TCP-INT: the sum of the hops' latencies on the data's way there. `None`: no hop has written, or nothing was echoed.
    pub hop_latency: Option<Duration>,
    /// What hops wrote into the flow's declared marks on the data's way there, in the order of their
    /// declaration.
    pub marks: MarkValues,
    /// The same on this acknowledgement's way back.
    pub backward_marks: MarkValues,
    /// What the hops on the data's way there recorded (INT). `None`: nothing that can be read.
    pub path: Option<PathRecord>,
    /// The receiver's clock minus the echoed sender's clock, in nanoseconds: forward delay and
    /// clock offset.
    pub ts_forward: Option<i64>,
    /// The sender's clock minus the receiver's, in nanoseconds: backward delay and clock offset.
    pub ts_backward: Option<i64>,
    /// Segments that this acknowledgement newly says have arrived, selectively or not; duplicates
    /// have some as well. 0 in the ns-2 profile, as are all fields below.
    pub newly_delivered: u64,
    /// Segments found lost since the last acknowledgement.
    pub newly_lost: u64,
    /// Of [`AckEvent::newly_delivered`], those that a congestion mark was echoed for: with accurate
    /// feedback (RFC 8257, §3.2) those that were marked, else all of an acknowledgement with
    /// ECN-Echo.
    pub newly_marked: u64,
    /// The window was not full as this acknowledgement came: the application or the receiver's
    /// window held the sender back, so that the window's size is not tried (RFC 9293, §3.8.6;
    /// RFC 9438, §5.8).
    pub window_unused: bool,
    /// What the path delivered lately; `None` where the acknowledgement allows no sample.
    pub rate: Option<RateSample>,
}

impl AckEvent {
    /// [`AckEvent::rtt`] in seconds, as the clock in floating point has it where there is one.
    pub fn rtt_s(&self) -> Option<f64> {
        self.floating_rtt.or(self.rtt.map(Duration::as_secs_f64))
    }

    /// How many acknowledgements this one stands for: in the modern profile one may cover several
    /// segments, of which each counts (RFC 3465); in the ns-2 profile each counts for itself.
    pub fn weight(&self) -> f64 {
        self.newly_delivered.max(1) as f64
    }
}

/// A delivery-rate sample (draft-cheng-iccrg-delivery-rate-estimation-02, §3): what was delivered
/// between the sending of the newest segment that an acknowledgement covers, and the
/// acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RateSample {
    /// Segments delivered in [`RateSample::interval`].
    pub delivered: u64,
    /// The longer of the sampled flight's sending and its acknowledging; never zero.
    pub interval: Duration,
    /// Segments delivered in all as the sampled segment left. A round ends when this reaches the
    /// [`RateSample::total_delivered`] of its start.
    pub prior_delivered: u64,
    /// Segments delivered in all.
    pub total_delivered: u64,
    /// Segments in flight as the sampled segment left, itself included.
    pub prior_in_flight: u64,
    /// Segments found lost between the sampled segment's sending and now.
    pub lost: u64,
    /// The sampled segment's round-trip time; of its newest transmission.
    pub rtt: Duration,
    /// The application, not the window, limited the flight.
    pub app_limited: bool,
}

impl RateSample {
    /// Segments per second.
    pub fn per_second(&self) -> f64 {
        self.delivered as f64 / self.interval.as_secs_f64()
    }
}

/// Fields of the marks that a flow declares; empty where it declares none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MarkValues {
    values: [u64; Self::MAX],
    len: u8,
}

impl MarkValues {
    /// Fields of all marks of a flow.
    pub const MAX: usize = 8;

    /// Appends a value; `false`, and nothing changed, if there is no room.
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

/// A queueing time as a mark tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueingTime {
    /// The whole queueing time.
    Exactly(Duration),
    /// The mark was saturated: the time is this or more.
    AtLeast(Duration),
}

impl QueueingTime {
    /// The time, where the mark tells it exactly.
    pub fn exact(self) -> Option<Duration> {
        match self {
            QueueingTime::Exactly(time) => Some(time),
            QueueingTime::AtLeast(_) => None,
        }
    }
}

/// Of the hops that data passed, the worst one's values, as CSIG's tags brought them. Each data packet asks for one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathSignal {
    /// The greatest delay of one hop.
    pub hop_delay: Option<Duration>,
    /// The least available bandwidth, as a share of its link's capacity: 0 to 1.
    pub available_share: Option<f64>,
    /// Hops measure available bandwidth in intervals of this length, and report that of the last full one.
    pub interval: Duration,
}

/// What showed that a segment was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// Three duplicate acknowledgements, or selective acknowledgements that amount to them.
    Duplicates,
    /// A duplicate found the segment older than the fine-grained timeout (Vegas).
    FineTimeout,
    /// A segment sent later arrived long enough ago (RACK, RFC 8985).
    Time,
    /// Nothing was lost: a congestion mark was echoed ([`crate::Controller::on_congestion_mark`]).
    Mark,
}

/// Loss recovery found a segment lost and is about to resend it. The ns-2 profile reports every
/// fast retransmit; the modern one reports the first loss of a recovery here, and later ones in
/// [`AckEvent::newly_lost`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossEvent {
    /// When it was found.
    pub now: Instant,
    /// What showed it.
    pub evidence: Evidence,
    /// The lost segment.
    pub lost: u64,
    /// When that segment was last sent; `None` if it never was.
    pub sent_at: Option<Instant>,
    /// How often that segment was sent so far.
    pub transmissions: u32,
    /// Duplicates in a row, the one that showed the loss included.
    pub duplicates: u32,
    /// The window in use, `W`: whole segments, the receiver's window applied.
    pub window: u64,
}

/// The retransmission timer ran out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeoutEvent {
    /// When it ran out.
    pub now: Instant,
    /// The window in use, `W`: whole segments, the receiver's window applied.
    pub window: u64,
}

/// A segment came without its payload: a full queue trimmed it. It is sent again, and was not lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrimEvent {
    /// When the receiver's notice arrived.
    pub now: Instant,
    /// The segment.
    pub segment: u64,
    /// How long the segment and the notice took, if the segment was sent only once.
    pub rtt: Option<Duration>,
    /// Segments in flight, this one no more.
    pub in_flight: u64,
}
