//! The records of a run, handed over at its end.

use crate::record::{AssociationRecord, Column, FlowRecord, LineRecord};
use crate::truth::Comparison;
use units::Instant;

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
    /// TCP flows by name.
    pub flows: Vec<(String, FlowRecord)>,
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
    /// Events taken.
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

/// A switch's records.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SwitchRecord {
    /// The program it ran.
    pub program: String,
    /// Packets that the program handled.
    pub handled_packets: u64,
    /// Drops by cause.
    pub drops: Vec<(&'static str, u64)>,
    /// All drops per bin.
    pub dropped_packets: Column,
    /// Packets that its Snoop agent sent again.
    pub snoop_resent: u64,
    /// Acknowledgements that its Snoop agent hid.
    pub snoop_suppressed: u64,
    /// The program's counters by control-plane name.
    pub counters: Vec<(String, CounterRecord)>,
}

/// A counter of a program at the end: its cells that are not zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CounterRecord {
    /// Index of each cell.
    pub index: Vec<u64>,
    /// Packets counted there.
    pub packets: Vec<u64>,
    /// Octets counted there.
    pub octets: Vec<u64>,
}
