//! What a run leaves behind: counts per bin of time, as columns.

use crate::losses::Judged;
use crate::trace::Trace;
use transport::tcp::Segment;
use units::{Duration, Instant};

/// The bins of a run, and the one that the present lies in.
#[derive(Clone, Debug)]
pub(crate) struct Bins {
    width: Duration,
    current: usize,
    current_end: Instant,
    count: usize,
    /// Flows are counted in one bin, which is the whole run.
    whole_flows: bool,
}

/// Packets or octets per bin.
pub type Column = Vec<u64>;

/// A TCP flow's or source's records, per bin. Octets are those that links charge.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowRecord {
    /// Data packets handed to the host's queue, retransmissions included.
    pub sent_packets: Column,
    /// Retransmissions among them.
    pub resent_packets: Column,
    /// Data packets dropped by a queue or a program, or lost on a link.
    pub lost_packets: Column,
    /// Data packets that arrived, copies included.
    pub delivered_packets: Column,
    /// Their octets.
    pub delivered_octets: Column,
    /// Data packets that arrived trimmed by a switch: neither lost nor delivered.
    pub trimmed_packets: Column,
    /// Payload octets that became available in order (a source: all that arrived).
    pub goodput_octets: Column,
    /// Of what a full data packet consists (TCP).
    pub packet: PacketOctets,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Data packets that the sender learnt to have been marked (ECN).
    pub reported_marks: u64,
    /// When all that a flow had to send was acknowledged.
    pub finished: Option<Instant>,
    /// What the sender took its losses for, beside the truth, if its congestion control judges that.
    pub judged: Option<Judged>,
    /// The sender's state after each change, if the scenario asks for it.
    pub trace: Option<Box<Trace>>,
}

/// The octets of the longest data packet that a TCP flow sent; all are 0 before the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketOctets {
    /// What links charge for it.
    pub link: u32,
    /// Options among them that hops write into.
    pub feedback: u32,
    /// Its payload.
    pub payload: u32,
}

/// An SCTP association's records.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AssociationRecord {
    /// Packets with DATA, as for TCP flows; a packet with a retransmitted chunk counts as resent.
    pub flow: FlowRecord,
    /// Packets with DATA sent on each path, per bin.
    pub sent_on_path: Vec<Column>,
    /// Delays of DATA chunks from their last transmission to their first arrival, summed per bin, in
    /// nanoseconds.
    pub delay_ns: Column,
    /// How many these are.
    pub delay_chunks: Column,
    /// Round-trip times that the sender measured, summed, in nanoseconds.
    pub rtt_ns: u128,
    /// How many these are.
    pub rtt_samples: u64,
    /// DATA chunks acknowledged.
    pub acked_chunks: u64,
    /// Time from their last transmission to that, summed, in nanoseconds.
    pub latency_ns: u128,
    /// Its squares, summed.
    pub latency_ns_squared: u128,
    /// Switches of path by SPC.
    pub switches: u64,
    /// The paths' state after each change and the delay of each chunk, if the scenario asks for it.
    pub trace: Option<AssociationTrace>,
}

/// How the paths of an association stand after each change, and the delay of each chunk.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AssociationTrace {
    /// When, in seconds.
    pub time_s: Vec<f64>,
    /// The path's number.
    pub path: Vec<u64>,
    /// Its congestion window.
    pub cwnd_octets: Vec<f64>,
    /// Its slow-start threshold.
    pub ssthresh_octets: Vec<f64>,
    /// Octets outstanding on it.
    pub outstanding_octets: Vec<f64>,
    /// Its RTT, if one was measured; else NaN.
    pub rtt_s: Vec<f64>,
    /// When a chunk arrived, in seconds.
    pub delay_time_s: Vec<f64>,
    /// How long it was under way, in seconds.
    pub delay_s: Vec<f64>,
    /// The last state of each path.
    pub(crate) last: Vec<(u32, u32, u32)>,
}

/// One direction of a link and the queue in front of it, per bin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineRecord {
    /// Packets whose first octet left in the bin.
    pub sent_packets: Column,
    /// Their octets.
    pub sent_octets: Column,
    /// Time that packets waited in the bin, summed over packets, in nanoseconds; the one in service
    /// does not wait.
    pub waiting_ns: Column,
    /// How many more packets waited throughout the bin than throughout the one before: what
    /// `waiting_ns` has not yet.
    waiting_throughout: Vec<i64>,
    /// The most packets that waited at once.
    pub max_waiting: Column,
    /// Packets refused by a host's queue or by a traffic manager's capacity.
    pub dropped_packets: Column,
    /// Packets lost on the link.
    pub lost_packets: Column,
}

impl Bins {
    /// Bins of `width` that cover the time to `end`.
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

    /// The same, with flows counted over the whole run if `whole_flows`.
    pub fn with_whole_flows(self, whole_flows: bool) -> Self {
        Bins {
            whole_flows,
            ..self
        }
    }

    /// Moves the present to `now`.
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

    /// The present bin's cell of a column, which may have none yet.
    pub fn cell<'a>(&self, column: &'a mut Column) -> &'a mut u64 {
        if column.is_empty() {
            *column = self.column();
        }
        &mut column[self.current]
    }

    /// As [`Bins::column`], of a flow.
    pub fn flow_column(&self) -> Column {
        match self.whole_flows {
            true => vec![0],
            false => self.column(),
        }
    }

    /// As [`Bins::cell`], of a flow.
    pub fn flow_cell<'a>(&self, column: &'a mut Column) -> &'a mut u64 {
        if column.is_empty() {
            *column = self.flow_column();
        }
        match self.whole_flows {
            true => &mut column[0],
            false => &mut column[self.current],
        }
    }

    /// When each bin begins, in seconds.
    pub fn begins(&self) -> Vec<f64> {
        let width = self.width.as_secs_f64();
        (0..self.count).map(|k| k as f64 * width).collect()
    }

    /// The bin of a time that is not after the present.
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
    /// Takes the segment's octets if it is longer than those before.
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
    /// The columns that are counted while packets go.
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

    /// Gives zeros to the columns in which nothing was counted.
    pub(crate) fn fill(&mut self, zeros: impl Fn() -> Column) {
        for column in self.columns() {
            if column.is_empty() {
                *column = zeros();
            }
        }
    }

    /// Adds what another part of the network has counted. Only the part with the sender knows the rest.
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

/// Adds a column, which may have no cells yet, to another.
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

    /// A packet waited from `from` to `to`, not after the present, as one of `waiting` when it came.
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

    /// The record as it is handed over.
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
