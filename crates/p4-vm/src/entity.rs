//! What a control plane writes and reads: entries, actions, counters, meters.

use num_bigint::BigUint;
use p4_ir::ActionId;

/// An entry of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// A match for each key, in the order of the table's keys; `selector` keys have none.
    pub matches: Vec<Match>,
    /// Larger wins, as in P4Runtime. At least 1 where a key is ternary, range or optional, else 0.
    pub priority: u32,
    /// What it does.
    pub action: EntryAction,
}

/// A set of values of one key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Match {
    /// Any value: for lpm, ternary, range and optional keys.
    Any,
    /// One value: for exact and optional keys, and all others as their narrowest set.
    Exact(BigUint),
    /// The values that begin with the same `prefix` bits.
    Lpm {
        /// A value of the set; bits beyond the prefix must be zero.
        value: BigUint,
        /// Length of the prefix in bits.
        prefix: u32,
    },
    /// The values that agree under a mask.
    Ternary {
        /// A value of the set; bits outside the mask must be zero.
        value: BigUint,
        /// The bits that count.
        mask: BigUint,
    },
    /// The values from `low` to `high`, both included.
    Range {
        /// The least.
        low: BigUint,
        /// The greatest.
        high: BigUint,
    },
}

impl Match {
    /// One value.
    pub fn exact(value: impl Into<BigUint>) -> Self {
        Match::Exact(value.into())
    }

    /// The values that begin with the same `prefix` bits.
    pub fn lpm(value: impl Into<BigUint>, prefix: u32) -> Self {
        Match::Lpm {
            value: value.into(),
            prefix,
        }
    }

    /// The values that agree under a mask.
    pub fn ternary(value: impl Into<BigUint>, mask: impl Into<BigUint>) -> Self {
        Match::Ternary {
            value: value.into(),
            mask: mask.into(),
        }
    }

    /// The values from `low` to `high`, both included.
    pub fn range(low: impl Into<BigUint>, high: impl Into<BigUint>) -> Self {
        Match::Range {
            low: low.into(),
            high: high.into(),
        }
    }
}

/// An action with a value for each of its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionSpec {
    /// Which.
    pub action: ActionId,
    /// Its data.
    pub args: Vec<BigUint>,
}

/// What an entry does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryAction {
    /// Runs an action: tables without an action profile.
    Run(ActionSpec),
    /// Runs a member of the table's action profile.
    Member(u32),
    /// Runs a member of a group, chosen by the selector's hash.
    Group(u32),
    /// A group of its own: actions and their weights.
    OneShot(Vec<(ActionSpec, u32)>),
}

/// Whose cell of a table's direct counter or meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectOf<'a> {
    /// Of the entry with these matches and this priority.
    Entry(&'a [Match], u32),
    /// Of the default: misses.
    Default,
}

/// A counter's cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CounterData {
    /// Packets counted.
    pub packets: u64,
    /// Octets counted (`packet_length`).
    pub octets: u64,
}

/// The cells of a register.
#[derive(Clone, Copy, Debug)]
pub struct RegisterCells<'a> {
    /// Words of 64 bits that a cell takes.
    pub limbs: usize,
    /// The cells' words, the least significant of each first.
    pub cells: &'a [u64],
}

/// What a meter's cell is set to: two rates, in octets or packets per second, with a burst each
/// (RFC 2698, trTCM).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeterConfig {
    /// Committed information rate, per second.
    pub cir: f64,
    /// Committed burst.
    pub cburst: u64,
    /// Peak information rate, per second; at least `cir`.
    pub pir: f64,
    /// Peak burst.
    pub pburst: u64,
    /// Excess burst. Where it is not 0 the meter has one rate, `cir` (RFC 2697, srTCM).
    pub eburst: u64,
}

/// A member of an action profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its number, chosen by the control plane.
    pub id: u32,
    /// What it does.
    pub action: ActionSpec,
}

/// A group of an action selector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its number, chosen by the control plane.
    pub id: u32,
    /// Numbers of its members with their weights, at least 1.
    pub members: Vec<(u32, u32)>,
}
