//! The entities of a control plane: entries, actions, counters, meters.

use num_bigint::BigUint;
use p4_ir::ActionId;

/// An entry of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// A match for each key, in the order of the table's keys, except `selector` keys.
    pub matches: Vec<Match>,
    /// Larger priorities win, as in P4Runtime. At least 1 if a key is ternary, range or optional,
    /// otherwise 0.
    pub priority: u32,
    /// The action.
    pub action: EntryAction,
}

/// A set of values of one key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Match {
    /// Any value. For lpm, ternary, range and optional keys.
    Any,
    /// One value. For exact and optional keys, and for all other keys as their narrowest set.
    Exact(BigUint),
    /// The values that share a prefix of `prefix` bits.
    Lpm {
        /// A value of the set. Bits beyond the prefix must be zero.
        value: BigUint,
        /// Length of the prefix in bits.
        prefix: u32,
    },
    /// The values that agree in the bits of a mask.
    Ternary {
        /// A value of the set. Bits outside the mask must be zero.
        value: BigUint,
        /// The bits that count.
        mask: BigUint,
    },
    /// The values from `low` to `high`, both included.
    Range {
        /// The smallest value.
        low: BigUint,
        /// The largest value.
        high: BigUint,
    },
}

impl Match {
    /// One value.
    pub fn exact(value: impl Into<BigUint>) -> Self {
        Match::Exact(value.into())
    }

    /// The values that share a prefix of `prefix` bits.
    pub fn lpm(value: impl Into<BigUint>, prefix: u32) -> Self {
        Match::Lpm {
            value: value.into(),
            prefix,
        }
    }

    /// The values that agree in the bits of a mask.
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

/// An action with a value for each parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionSpec {
    /// The action.
    pub action: ActionId,
    /// Its data.
    pub args: Vec<BigUint>,
}

/// The action of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryAction {
    /// Runs an action. For tables without an action profile.
    Run(ActionSpec),
    /// Runs a member of the table's action profile.
    Member(u32),
    /// Runs a member of a group, which the selector's hash chooses.
    Group(u32),
    /// Chooses from the entry's own group: actions and their weights.
    OneShot(Vec<(ActionSpec, u32)>),
}

/// Selects a cell of a table's direct counter or meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectOf<'a> {
    /// The cell of the entry with these matches and this priority.
    Entry(&'a [Match], u32),
    /// The cell of the default action, for misses.
    Default,
}

/// A counter's cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CounterData {
    /// Packets counted.
    pub packets: u64,
    /// Octets counted, by `packet_length`.
    pub octets: u64,
}

/// The cells of a register.
#[derive(Clone, Copy, Debug)]
pub struct RegisterCells<'a> {
    /// Number of 64-bit words per cell.
    pub limbs: usize,
    /// The words of the cells, least significant word first.
    pub cells: &'a [u64],
}

/// The configuration of a meter cell: two rates, in octets or packets per second, each with a burst
/// size (RFC 2698, trTCM).
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
    /// Excess burst. If it is not 0, the meter has the single rate `cir` (RFC 2697, srTCM).
    pub eburst: u64,
}

/// A member of an action profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its number, chosen by the control plane.
    pub id: u32,
    /// Its action.
    pub action: ActionSpec,
}

/// A group of an action selector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its number, chosen by the control plane.
    pub id: u32,
    /// Numbers of its members with their weights, which are at least 1.
    pub members: Vec<(u32, u32)>,
}
