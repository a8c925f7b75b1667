//! The results of a run.

use crate::record::{AssociationRecord, Column, FlowRecord, LineRecord};
use crate::truth::Comparison;
use engine::PortStats;
use units::{Duration, Instant};

/// All records of a run. Lists are in the order of the scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// The scenario's name.
    pub name: String,
    /// Its seed.
    pub seed: u64,
    /// The time reached by the run.
    pub end: Instant,
    /// The start time of each bin, in seconds.
    pub time_s: Vec<f64>,
    /// TCP flows by name. Empty if flows are returned as they end.
    pub flows: Vec<(String, FlowRecord)>,
    /// Flows by number that have not been returned before: first those that had ended, then the others.
    pub ended: Vec<(usize, FlowRecord)>,
    /// SCTP associations by name.
    pub associations: Vec<(String, AssociationRecord)>,
    /// Sources by name.
    pub sources: Vec<(String, FlowRecord)>,
    /// Lines by `"from->to"`. Parallel links after the first are named `"from->to#2"`, …
    pub lines: Vec<(String, LineRecord)>,
    /// Switches by name.
    pub switches: Vec<(String, SwitchRecord)>,
    /// Comparison of AQT with the truth, if the scenario requests it.
    pub check_aqt: Option<Comparison>,
    /// Comparison of congestion indication with the truth, if the scenario requests it.
    pub check_ci: Option<Comparison>,
    /// Counts of the whole run.
    pub totals: Totals,
}

/// Counts for a whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Events handled, except those of lines that have sent a packet. If flows are returned as they end, also except
    /// timers of connections that only wait to forget the other end.
    pub events: u64,
    /// Packets that hosts sent.
    pub packets: u64,
    /// Transmissions on links.
    pub packet_hops: u64,
    /// Packets handled by P4 programs.
    pub switch_packets: u64,
    /// Packets that reached a host to which they were not addressed, or that the host could not parse.
    pub stray_packets: u64,
}

impl Totals {
    /// Adds the counts of another part of the network.
    pub(crate) fn add(&mut self, other: &Totals) {
        self.events += other.events;
        self.packets += other.packets;
        self.packet_hops += other.packet_hops;
        self.switch_packets += other.switch_packets;
        self.stray_packets += other.stray_packets;
    }
}

/// A switch's records.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SwitchRecord {
    /// The program that it ran.
    pub program: String,
    /// Packets that the program handled.
    pub handled_packets: u64,
    /// Drops by cause.
    pub drops: Vec<(&'static str, u64)>,
    /// The causes that occurred, with drops per bin.
    pub dropped_packets: Vec<(&'static str, Column)>,
    /// Loops that were left because they reached their iteration limit.
    pub cut_loops: u64,
    /// The first panic of the engine: time, place and message.
    pub panic: Option<String>,
    /// Packets retransmitted by its Snoop agent.
    pub snoop_resent: u64,
    /// Acknowledgements suppressed by its Snoop agent.
    pub snoop_suppressed: u64,
    /// Its ports that have a link, by number.
    pub ports: Vec<(u16, PortRecord)>,
    /// The program's counters by control-plane name.
    pub counters: Vec<(String, CounterRecord)>,
    /// The program's direct counters by control-plane name.
    pub direct_counters: Vec<(String, DirectCounterRecord)>,
    /// The program's registers by control-plane name.
    pub registers: Vec<(String, RegisterRecord)>,
}

/// A port of a switch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PortRecord {
    /// The line from it.
    pub line: String,
    /// Its counts.
    pub stats: PortStats,
}

/// A counter of a program at the end of the run: its cells that are not zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CounterRecord {
    /// Number of cells.
    pub size: u64,
    /// Index of each cell that is not zero.
    pub index: Vec<u64>,
    /// Packets counted there.
    pub packets: Vec<u64>,
    /// Octets counted there.
    pub octets: Vec<u64>,
    /// Its cells during the run, if the scenario requests them.
    pub samples: Option<Samples>,
}

/// A direct counter of a program at the end of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirectCounterRecord {
    /// Control-plane name of its table.
    pub table: String,
    /// The entries of the table, in the order of insertion.
    pub entries: Vec<CountedEntry>,
    /// Packets for each entry in turn, then for misses.
    pub packets: Vec<u64>,
    /// Octets, in the same order.
    pub octets: Vec<u64>,
    /// Like the samples of a counter. Misses are the last cell.
    pub samples: Option<Samples>,
}

/// An entry of a table with a direct counter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountedEntry {
    /// The values of its keys by name, in the notation of P4: `0xa000000/24`, `0x1 &&& 0x3`, `0x1..0x9`, `_`.
    pub matches: Vec<(String, String)>,
    /// The priority. 0 if the table has no priorities.
    pub priority: u32,
}

/// A register of a program at the end of the run: its cells that are not zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegisterRecord {
    /// Number of cells.
    pub size: u64,
    /// Bits of a cell.
    pub width: u32,
    /// Whether a cell holds an `int<W>`, in two's complement.
    pub signed: bool,
    /// Index of each cell that is not zero.
    pub index: Vec<u64>,
    /// The values of these cells. Each has as many 64-bit words as `width` requires, least significant first.
    pub words: Vec<u64>,
    /// Its cells during the run, if the scenario requests them.
    pub samples: Option<Samples>,
}

/// The cells of an object at equal intervals: a row for each cell that has changed since the preceding sample. All
/// cells are initially zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    /// The interval. Sample `k` is taken after `k + 1` intervals.
    pub every: Duration,
    /// The number of samples.
    pub count: u64,
    /// The sample of each row.
    pub sample: Vec<u64>,
    /// The cell of each row.
    pub index: Vec<u64>,
    /// The number of packets, or the lower 64 bits of a register cell.
    pub low: Vec<u64>,
    /// The number of octets, or the higher 64 bits of a register cell.
    pub high: Vec<u64>,
}
