//! The syntax tree of a script.

use crate::Number;
use engine::{CrcParameters, CrcWidth};

/// A whole script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// The commands, in order.
    pub commands: Vec<Command>,
}

/// One line.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// Its line, from 1.
    pub line: u32,
    /// The command.
    pub verb: Verb,
}

/// A command.
#[derive(Clone, Debug, PartialEq)]
pub enum Verb {
    /// `add TABLE [PRIORITY] KEY:VALUE… ACTION(ARG:VALUE, …) [= ID]`
    Add {
        /// The table's name, or a suffix of it.
        table: String,
        /// Larger wins.
        priority: Option<u32>,
        /// Key names with the sets to match.
        matches: Vec<(String, Number)>,
        /// The action of the entry.
        action: Call,
        /// A name for the entry, without an optional leading `$`.
        id: Option<String>,
    },
    /// `setdefault TABLE ACTION(…)`
    SetDefault {
        /// The table's name, or a suffix of it.
        table: String,
        /// The action for misses.
        action: Call,
    },
    /// `remove all`
    RemoveAll,
    /// `check_counter COUNTER(CELL) [packets|bytes OP NUMBER]`
    CheckCounter {
        /// A counter, or a table with a direct counter.
        counter: String,
        /// Which cell.
        cell: CounterCell,
        /// The expected relation.
        check: Option<(Quantity, Comparison, u64)>,
    },
    /// `packet PORT OCTETS`
    Packet {
        /// The ingress port.
        port: u16,
        /// The packet.
        octets: Vec<u8>,
    },
    /// `expect PORT [OCTETS]`
    Expect {
        /// The egress port.
        port: u16,
        /// Its prefix. `None` means any packet.
        expected: Option<Expected>,
    },
    /// `no_packet`: no packets other than the expected ones are sent. This is always checked.
    NoPacket,
    /// `wait`: two seconds.
    Wait,
    /// `mirroring_add SESSION PORT`
    MirroringAdd(u16, u16),
    /// `mirroring_add_mc SESSION GROUP`
    MirroringAddMc(u16, u16),
    /// `mirroring_delete SESSION`
    MirroringDelete(u16),
    /// `mirroring_get SESSION`
    MirroringGet(u16),
    /// `mc_mgrp_create GROUP`
    GroupCreate(u16),
    /// `mc_node_create RID PORT…`: nodes are numbered from 0.
    NodeCreate(u16, Vec<u16>),
    /// `mc_node_update NODE PORT…`
    NodeUpdate(u32, Vec<u16>),
    /// `mc_node_associate GROUP NODE`
    NodeAssociate(u16, u32),
    /// `counter_read COUNTER INDEX`
    CounterRead(String, u64),
    /// `counter_write COUNTER INDEX PACKETS OCTETS`
    CounterWrite(String, u64, u64, u64),
    /// `register_read REGISTER INDEX`
    RegisterRead(String, u64),
    /// `register_write REGISTER INDEX VALUE`
    RegisterWrite(String, u64, Number),
    /// `register_reset REGISTER`
    RegisterReset(String),
    /// `meter_get_rates METER INDEX`
    MeterGetRates(String, u64),
    /// `meter_set_rates METER INDEX RATE:BURST RATE:BURST`: rates per microsecond.
    MeterSetRates(String, u64, Vec<(f64, u64)>),
    /// `meter_array_set_rates METER RATE:BURST RATE:BURST`
    MeterArraySetRates(String, Vec<(f64, u64)>),
    /// `set_crc16_parameters CALCULATION POLYNOMIAL INITIAL FINAL_XOR REFLECT_DATA REFLECT_REMAINDER`, and
    /// `set_crc32_parameters`: as in BMv2's command line.
    SetCrcParameters(String, CrcWidth, CrcParameters),
}

/// `ACTION(ARG:VALUE, …)`
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The action's name, or a suffix of it.
    pub name: String,
    /// Its arguments by name.
    pub args: Vec<(String, Number)>,
}

/// A cell of a counter.
#[derive(Clone, Debug, PartialEq)]
pub enum CounterCell {
    /// By its index.
    Index(u64),
    /// The cell of the entry with this name, without an optional leading `$`.
    Entry(String),
}

/// The quantity that a check compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// `packets`
    Packets,
    /// `bytes`
    Octets,
}

/// The comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// The expected prefix of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Half octets; `None` for `*`.
    pub nibbles: Vec<Option<u8>>,
    /// `$`: nothing may follow.
    pub exact: bool,
}

impl Comparison {
    /// Whether the relation holds.
    pub fn holds(self, left: u64, right: u64) -> bool {
        match self {
            Comparison::Equal => left == right,
            Comparison::NotEqual => left != right,
            Comparison::Less => left < right,
            Comparison::LessOrEqual => left <= right,
            Comparison::Greater => left > right,
            Comparison::GreaterOrEqual => left >= right,
        }
    }

    /// The symbol in scripts.
    pub fn symbol(self) -> &'static str {
        match self {
            Comparison::Equal => "==",
            Comparison::NotEqual => "!=",
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterOrEqual => ">=",
        }
    }
}

impl Expected {
    /// The index of the first half octet that differs, or the length at which one of the two ends early.
    pub fn difference(&self, octets: &[u8]) -> Option<usize> {
        let found = octets.iter().flat_map(|octet| [octet >> 4, octet & 15]);
        let pairs = self.nibbles.iter().zip(found);
        let differs = pairs
            .into_iter()
            .position(|(want, got)| want.is_some_and(|want| want != got));
        let length = octets.len() * 2;
        let wrong_length = length < self.nibbles.len() || self.exact && length > self.nibbles.len();
        differs.or_else(|| wrong_length.then_some(length.min(self.nibbles.len())))
    }
}
