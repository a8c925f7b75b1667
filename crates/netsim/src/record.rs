//! The records of a run: counters per time bin, as columns.

use crate::losses::Judged;
use crate::trace::Trace;
use transport::tcp::Segment;
use units::{Duration, Instant};

/// The time bins of a run, and the current bin.
#[derive(Clone, Debug)]
pub(crate) struct Bins {
    width: Duration,
    current: usize,
    current_end: Instant,
    count: usize,
    /// Whether flows are counted in a single bin for the whole run.
    whole_flows: bool,
}

/// Packets or octets per bin.
pub type Column = Vec<u64>;

/// The records of a TCP flow or source, per bin. Octets are those that links charge.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowRecord {
    /// Data packets passed to the host's queue, including retransmissions.
    pub sent_packets: Column,
    /// Retransmissions among them.
    pub resent_packets: Column,
    /// Data packets dropped by a queue or a program, or lost on a link.
    pub lost_packets: Column,
    /// Data packets that arrived, including duplicates.
    pub delivered_packets: Column,
    /// Their octets.
    pub delivered_octets: Column,
    /// Data packets that arrived trimmed by a switch. They count as neither lost nor delivered.
    pub trimmed_packets: Column,
    /// Payload octets that became available in order. For a source, all octets that arrived.
    pub goodput_octets: Column,
    /// The size of a full data packet (TCP).
    pub packet: PacketOctets,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Data packets reported to the sender as marked (ECN).
    pub reported_marks: u64,
    /// When all data of the flow was acknowledged.
    pub finished: Option<Instant>,
    /// How the sender classified its losses, compared with what happened, if its congestion control classifies them.
    pub judged: Option<Judged>,
    /// The sender's state after each change, if the scenario requests it.
    pub trace: Option<Box<Trace>>,
}

/// The size of the longest data packet that a TCP flow sent, in octets. All are 0 before the first packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketOctets {
    /// The size that links charge.
    pub link: u32,
    /// The part of it that is options into which hops write.
    pub feedback: u32,
    /// The payload.
    pub payload: u32,
}

/// An SCTP association's records.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AssociationRecord {
    /// Packets with DATA, as for TCP flows. A packet with a retransmitted chunk counts as a retransmission.
    pub flow: FlowRecord,
    /// Packets with DATA sent on each path, per bin.
    pub sent_on_path: Vec<Column>,
    /// Delays of DATA chunks from their last transmission to their first arrival, summed per bin, in
    /// nanoseconds.
    pub delay_ns: Column,
    /// The number of these chunks.
    pub delay_chunks: Column,
    /// Round-trip times that the sender measured, summed, in nanoseconds.
    pub rtt_ns: u128,
    /// The number of these samples.
    pub rtt_samples: u64,
    /// DATA chunks acknowledged.
    pub acked_chunks: u64,
    /// Sum of the times from the last transmission of a chunk to its acknowledgement, in nanoseconds.
    pub latency_ns: u128,
    /// Sum of the squares of these times.
    pub latency_ns_squared: u128,
    /// Path switches by SPC.
    pub switches: u64,
    /// The state of the paths after each change and the delay of each chunk, if the scenario requests it.
    pub trace: Option<AssociationTrace>,
}

/// The state of an association's paths after each change, and the delay of each chunk.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AssociationTrace {
    /// The time, in seconds.
    pub time_s: Vec<f64>,
    /// The path's number.
    pub path: Vec<u64>,
    /// Its congestion window.
    pub cwnd_octets: Vec<f64>,
    /// Its slow-start threshold.
    pub ssthresh_octets: Vec<f64>,
    /// Octets outstanding on it.
    pub outstanding_octets: Vec<f64>,
    /// Its RTT, or NaN if none has been measured.
    pub rtt_s: Vec<f64>,
    /// When a chunk arrived, in seconds.
    pub delay_time_s: Vec<f64>,
    /// Its delay, in seconds.
    pub delay_s: Vec<f64>,
    /// The last state of each path.
    pub(crate) last: Vec<(u32, u32, u32)>,
}

/// One direction of a link and the queue in front of it, per bin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineRecord {
    /// Packets whose transmission started in the bin.
    pub sent_packets: Column,
    /// Their octets.
    pub sent_octets: Column,
    /// Time that packets waited in the bin, summed over packets, in nanoseconds. The packet in service does not count
    /// as waiting.
    pub waiting_ns: Column,
    /// How many more packets waited throughout the bin than throughout the preceding one. This is not yet included in
    /// `waiting_ns`.
    waiting_throughout: Vec<i64>,
    /// The most packets that waited at once.
    pub max_waiting: Column,
    /// Packets refused by a host's queue or by a traffic manager's capacity.
    pub dropped_packets: Column,
    /// Packets lost on the link.
    pub lost_packets: Column,
}

impl Bins {
    /// Creates bins of `width` that cover the time to `end`.
    pub fn new(width: Duration, end: Instant) -> Self {
        let width = width.max(Duration::from_nanos(1));
        Bins {
            width,
            current: 0,
            current_end: Instant::ZERO + width,
            count: (end.as_nanos().div_ceil(width.as_nanos())).max(1) as usize,
            whole_flows: false,
        }
    }

    /// Counts flows in a single bin for the whole run if `whole_flows`.
    pub fn with_whole_flows(self, whole_flows: bool) -> Self {
        Bins {
            whole_flows,
            ..self
        }
    }

    /// Advances the current time to `now`.
    pub fn advance(&mut self, now: Instant) {
        while now >= self.current_end && self.current + 1 < self.count {
            self.current += 1;
            self.current_end += self.width;
        }
    }

    /// A column of zeros.
    pub fn column(&self) -> Column {
        vec![0; self.count]
    }

    /// The current bin's cell of a column. Initialises the column if it is empty.
    pub fn cell<'a>(&self, column: &'a mut Column) -> &'a mut u64 {
        if column.is_empty() {
            *column = self.column();
        }
        &mut column[self.current]
    }

    /// Like [`Bins::column`], for a flow.
    pub fn flow_column(&self) -> Column {
        match self.whole_flows {
            true => vec![0],
            false => self.column(),
        }
    }

    /// Like [`Bins::cell`], for a flow.
    pub fn flow_cell<'a>(&self, column: &'a mut Column) -> &'a mut u64 {
        if column.is_empty() {
            *column = self.flow_column();
        }
        match self.whole_flows {
            true => &mut column[0],
            false => &mut column[self.current],
        }
    }

    /// The start time of each bin, in seconds.
    pub fn begins(&self) -> Vec<f64> {
        let width = self.width.as_secs_f64();
        (0..self.count).map(|k| k as f64 * width).collect()
    }

    /// The bin of a time that is not in the future.
    fn bin_of(&self, at: Instant) -> usize {
        match at >= self.begin(self.current) {
            true => self.current,
            false => (at.as_nanos() / self.width.as_nanos()) as usize,
        }
    }

    fn begin(&self, bin: usize) -> Instant {
        Instant::ZERO + self.width * bin as u64
    }
}

impl PacketOctets {
    /// Records the size of the segment if it is the longest so far.
    pub(crate) fn note(&mut self, segment: &Segment) {
        if segment.payload > self.payload {
            *self = PacketOctets {
                link: segment.link_octets,
                feedback: segment.feedback_octets() + segment.int_octets(),
                payload: segment.payload,
            };
        }
    }
}

impl FlowRecord {
    pub(crate) fn new(bins: &Bins) -> Self {
        FlowRecord {
            sent_packets: bins.column(),
            resent_packets: bins.column(),
            lost_packets: bins.column(),
            delivered_packets: bins.column(),
            delivered_octets: bins.column(),
            trimmed_packets: bins.column(),
            goodput_octets: bins.column(),
            packet: PacketOctets::default(),
            timeouts: 0,
            reported_marks: 0,
            finished: None,
            judged: None,
            trace: None,
        }
    }
}

impl FlowRecord {
    /// The columns that are counted while packets move.
    fn columns(&mut self) -> [&mut Column; 7] {
        [
            &mut self.sent_packets,
            &mut self.resent_packets,
            &mut self.lost_packets,
            &mut self.delivered_packets,
            &mut self.delivered_octets,
            &mut self.trimmed_packets,
            &mut self.goodput_octets,
        ]
    }

    /// Fills the columns in which nothing was counted with zeros.
    pub(crate) fn fill(&mut self, zeros: impl Fn() -> Column) {
        for column in self.columns() {
            if column.is_empty() {
                *column = zeros();
            }
        }
    }

    /// Adds the counts of another part of the network. Only the part with the sender has the remaining values.
    pub(crate) fn add(&mut self, mut other: FlowRecord) {
        for (column, more) in self.columns().into_iter().zip(other.columns()) {
            add(column, std::mem::take(more));
        }
        if other.packet.payload > self.packet.payload {
            self.packet = other.packet;
        }
        self.timeouts = self.timeouts.max(other.timeouts);
        self.reported_marks = self.reported_marks.max(other.reported_marks);
        self.finished = self.finished.or(other.finished);
    }
}

/// Adds a column to another. The column may be empty.
pub(crate) fn add(column: &mut Column, more: Column) {
    if column.is_empty() {
        *column = more;
    } else {
        for (sum, more) in column.iter_mut().zip(more) {
            *sum += more;
        }
    }
}

impl AssociationRecord {
    pub(crate) fn new(bins: &Bins, paths: usize, trace: bool) -> Self {
        AssociationRecord {
            flow: FlowRecord::new(bins),
            sent_on_path: (0..paths).map(|_| bins.column()).collect(),
            delay_ns: bins.column(),
            delay_chunks: bins.column(),
            trace: trace.then(AssociationTrace::default),
            ..AssociationRecord::default()
        }
    }
}

impl LineRecord {
    pub(crate) fn new(bins: &Bins) -> Self {
        LineRecord {
            sent_packets: bins.column(),
            sent_octets: bins.column(),
            waiting_ns: bins.column(),
            waiting_throughout: vec![0; bins.count],
            max_waiting: bins.column(),
            dropped_packets: bins.column(),
            lost_packets: bins.column(),
        }
    }

    /// Records that a packet waited from `from` to `to`, which is not in the future, as one of `waiting` packets when
    /// it arrived.
    pub(crate) fn add_wait(&mut self, bins: &Bins, from: Instant, to: Instant, waiting: u64) {
        if from >= to {
            return;
        }
        let (first, last) = (bins.bin_of(from), bins.bin_of(to));
        if first == last {
            self.waiting_ns[last] += to.since(from).as_nanos();
        } else {
            self.waiting_ns[first] += bins.begin(first + 1).since(from).as_nanos();
            self.waiting_ns[last] += to.since(bins.begin(last)).as_nanos();
            self.waiting_throughout[first + 1] += 1;
            self.waiting_throughout[last] -= 1;
        }
        self.max_waiting[first] = self.max_waiting[first].max(waiting);
    }

    /// Completes the record at the end of the run.
    pub(crate) fn finish(mut self, bins: &Bins) -> Self {
        let mut throughout = 0;
        let changes = std::mem::take(&mut self.waiting_throughout);
        for (waited_ns, change) in self.waiting_ns.iter_mut().zip(changes) {
            throughout += change;
            *waited_ns += throughout as u64 * bins.width.as_nanos();
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ns: u64) -> Instant {
        Instant::from_nanos(ns)
    }

    #[test]
    fn a_wait_is_shared_out_to_the_bins_it_lies_in() {
        let mut bins = Bins::new(Duration::from_nanos(10), at(35));
        let mut line = LineRecord::new(&bins);
        bins.advance(at(34));
        line.add_wait(&bins, at(7), at(34), 1);
        line.add_wait(&bins, at(31), at(32), 2);
        line.add_wait(&bins, at(19), at(20), 12);
        let line = line.finish(&bins);
        assert_eq!(line.waiting_ns, [3, 11, 10, 5]);
        assert_eq!(line.max_waiting, [1, 12, 0, 2]);
    }

    #[test]
    fn a_wait_that_ended_before_the_present_bin_counts_where_it_was() {
        let mut bins = Bins::new(Duration::from_nanos(10), at(40));
        let mut line = LineRecord::new(&bins);
        bins.advance(at(39));
        line.add_wait(&bins, at(5), at(15), 1);
        assert_eq!(line.finish(&bins).waiting_ns, [5, 5, 0, 0]);
    }

    #[test]
    fn a_wait_through_many_bins_takes_no_longer_than_one() {
        let mut bins = Bins::new(Duration::from_nanos(1), at(10_000_000));
        let mut line = LineRecord::new(&bins);
        bins.advance(at(10_000_000));
        for _ in 0..1_000_000 {
            line.add_wait(&bins, at(0), at(10_000_000), 1);
        }
        let line = line.finish(&bins);
        assert!(line.waiting_ns.iter().all(|waited| *waited == 1_000_000));
    }

    #[test]
    fn the_present_counts_in_the_bin_it_begins() {
        let mut bins = Bins::new(Duration::from_nanos(10), at(20));
        let mut column = bins.column();
        bins.advance(at(10));
        *bins.cell(&mut column) += 1;
        bins.advance(at(20));
        *bins.cell(&mut column) += 1;
        assert_eq!(column, [0, 2]);
    }
}
