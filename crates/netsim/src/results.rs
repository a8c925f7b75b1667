//! The records of a run, handed over at its end.

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
    /// The time reached.
    pub end: Instant,
    /// When each bin begins, in seconds.
    pub time_s: Vec<f64>,
    /// TCP flows by name; none where they are handed over as they end.
    pub flows: Vec<(String, FlowRecord)>,
    /// These flows by number, but those handed over before: first what had ended, then what had not.
    pub ended: Vec<(usize, FlowRecord)>,
    /// SCTP associations by name.
    pub associations: Vec<(String, AssociationRecord)>,
    /// Sources by name.
    pub sources: Vec<(String, FlowRecord)>,
    /// Lines by `"from->to"`; of parallel links, all but the first are `"from->to#2"`, …
    pub lines: Vec<(String, LineRecord)>,
    /// Switches by name.
    pub switches: Vec<(String, SwitchRecord)>,
    /// AQT compared with the truth, if the scenario asks for it.
    pub check_aqt: Option<Comparison>,
    /// Congestion indication compared with the truth, if the scenario asks for it.
    pub check_ci: Option<Comparison>,
    /// Counts of the whole run.
    pub totals: Totals,
}

/// Counts of a whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Events taken, without those of lines that have sent a packet; where flows are handed over as they end, also
    /// without timers of connections that wait for nothing but to forget the other end.
    pub events: u64,
    /// Packets that hosts sent.
    pub packets: u64,
    /// Transmissions on links.
    pub packet_hops: u64,
    /// Packets handled by P4 programs.
    pub switch_packets: u64,
    /// Packets that reached a host which did not expect them, or could not be read there.
    pub stray_packets: u64,
}

impl Totals {
    /// Adds those of another part of the network.
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
    /// The program it ran.
    pub program: String,
    /// Packets that the program handled.
    pub handled_packets: u64,
    /// Drops by cause.
    pub drops: Vec<(&'static str, u64)>,
    /// The causes that occurred, with drops per bin.
    pub dropped_packets: Vec<(&'static str, Column)>,
    /// Loops that were left because they took as many rounds as they may.
    pub cut_loops: u64,
    /// The first panic of the engine: when, where and what it says.
    pub panic: Option<String>,
    /// Packets that its Snoop agent sent again.
    pub snoop_resent: u64,
    /// Acknowledgements that its Snoop agent hid.
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
    /// The line out of it.
    pub line: String,
    /// Its counts.
    pub stats: PortStats,
}

/// A counter of a program at the end: its cells that are not zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CounterRecord {
    /// Cells that there are.
    pub size: u64,
    /// Index of each cell that is not zero.
    pub index: Vec<u64>,
    /// Packets counted there.
    pub packets: Vec<u64>,
    /// Octets counted there.
    pub octets: Vec<u64>,
    /// Its cells during the run, if the scenario asks for it.
    pub samples: Option<Samples>,
}

/// A direct counter of a program at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirectCounterRecord {
    /// Control-plane name of its table.
    pub table: String,
    /// The table's entries, in the order in which they were inserted.
    pub entries: Vec<CountedEntry>,
    /// Packets and octets of each entry in turn, then those of misses.
    pub packets: Vec<u64>,
    /// As `packets`.
    pub octets: Vec<u64>,
    /// As the cells of a counter; misses are the last.
    pub samples: Option<Samples>,
}

/// An entry of a table with a direct counter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountedEntry {
    /// The values of its keys by name, in the notation of P4: `0xa000000/24`, `0x1 &&& 0x3`, `0x1..0x9`, `_`.
    pub matches: Vec<(String, String)>,
    /// 0 where the table has no priorities.
    pub priority: u32,
}

/// A register of a program at the end: its cells that are not zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegisterRecord {
    /// Cells that there are.
    pub size: u64,
    /// Bits of a cell.
    pub width: u32,
    /// Whether a cell holds an `int<W>`, in two's complement.
    pub signed: bool,
    /// Index of each cell that is not zero.
    pub index: Vec<u64>,
    /// Their values, each in as many words of 64 bits as `width` takes, the least significant first.
    pub words: Vec<u64>,
    /// Its cells during the run, if the scenario asks for it.
    pub samples: Option<Samples>,
}

/// The cells of an object at equal intervals: a row for each cell that is not what it was at the sample
/// before. All are zero at first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    /// Time between two samples; sample `k` is taken after `k + 1` intervals.
    pub every: Duration,
    /// Samples that were taken.
    pub count: u64,
    /// The sample of each row.
    pub sample: Vec<u64>,
    /// The cell of each row.
    pub index: Vec<u64>,
    /// Its packets, or the lower 64 bits of a register's cell.
    pub low: Vec<u64>,
    /// Its octets, or the higher 64 bits of a register's cell.
    pub high: Vec<u64>,
}
