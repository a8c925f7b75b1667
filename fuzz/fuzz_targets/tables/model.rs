//! What a table should hold, and which of its entries a packet should hit: a list that is read from end to end.

use num_bigint::BigUint;

/// A key: its match kind and its width.
pub type Key = (&'static str, u32);

/// The values that one key of an entry matches.
#[derive(Clone, Debug, PartialEq)]
pub enum Set {
    /// Those that agree under the mask, which has ones before zeros for a prefix.
    Masked(BigUint, BigUint),
    Range(BigUint, BigUint),
}

/// Entries in the order in which they came.
#[derive(Clone, Default)]
pub struct Model {
    pub entries: Vec<Row>,
    pub default: Option<u64>,
}

#[derive(Clone, Debug)]
pub struct Row {
    pub sets: Vec<Set>,
    pub priority: u32,
    pub gives: u64,
    /// The same for as long as an entry is there, in a batch as well.
    pub id: u64,
}

impl Model {
    pub fn find(&self, sets: &[Set], priority: u32) -> Option<usize> {
        let same = |row: &Row| row.sets == sets && row.priority == priority;
        self.entries.iter().position(same)
    }

    /// The longest prefix, or the largest priority and of these the oldest.
    pub fn lookup(&self, keys: &[Key], values: &[BigUint]) -> Option<&Row> {
        let mut best: Option<(u64, &Row)> = None;
        for row in &self.entries {
            let pairs = row.sets.iter().zip(values);
            if !pairs.into_iter().all(|(set, value)| set.has(value)) {
                continue;
            }
            let prefixes = row.sets.iter().zip(keys).map(|(set, (kind, _))| match set {
                Set::Masked(_, mask) if *kind == "lpm" => mask.count_ones(),
                _ => 0,
            });
            let rank = match row.priority {
                0 => prefixes.sum(),
                priority => priority.into(),
            };
            if best.is_none_or(|(most, _)| rank > most) {
                best = Some((rank, row));
            }
        }
        best.map(|(_, row)| row)
    }
}

impl Set {
    fn has(&self, value: &BigUint) -> bool {
        match self {
            Set::Masked(of, mask) => value & mask == *of,
            Set::Range(low, high) => low <= value && value <= high,
        }
    }
}

pub fn ones(width: u32) -> BigUint {
    (BigUint::from(1u8) << width) - 1u8
}
