//! Keys, values and entries at random.

use crate::model::{Key, Model, Set, ones};
use engine::{ActionSpec, Entry, EntryAction, Match};
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use num_bigint::BigUint;

pub type Random<'r, 'a> = &'r mut Unstructured<'a>;

const KINDS: [&str; 5] = ["exact", "lpm", "ternary", "range", "optional"];

/// One to four keys, of which at most one is lpm.
pub fn keys(random: Random<'_, '_>) -> Result<Vec<Key>> {
    let mut keys: Vec<Key> = Vec::new();
    for _ in 0..random.int_in_range(1..=4)? {
        let mut kind = *random.choose(&KINDS)?;
        if kind == "lpm" && keys.iter().any(|(other, _)| *other == "lpm") {
            kind = "exact";
        }
        let width = match random.int_in_range(0..=3)? {
            0 => random.int_in_range(1..=6)?,
            1 => random.int_in_range(1..=33)?,
            2 => random.int_in_range(60..=68)?,
            _ => random.int_in_range(1..=200)?,
        };
        keys.push((kind, width));
    }
    Ok(keys)
}

/// A number of a width: small, great, or any.
pub fn number(random: Random<'_, '_>, width: u32) -> Result<BigUint> {
    Ok(match random.int_in_range(0..=3)? {
        0 => BigUint::from(random.arbitrary::<u8>()?) & ones(width),
        1 => ones(width) - (BigUint::from(random.arbitrary::<u8>()?) & ones(width)),
        _ => {
            let octets = random.bytes((width.div_ceil(8) as usize).min(random.len()))?;
            BigUint::from_bytes_le(octets) & ones(width)
        }
    })
}

/// A number of the pool, or one that differs from it in a bit or by one.
pub fn near(random: Random<'_, '_>, width: u32, pool: &[BigUint; 3]) -> Result<BigUint> {
    let value = random.choose(pool)?.clone();
    Ok(match random.int_in_range(0..=4)? {
        0 => value ^ (BigUint::from(1u8) << random.int_in_range(0..=width - 1)?),
        1 => (value + 1u8) & ones(width),
        _ => value,
    })
}

pub fn sets(random: Random<'_, '_>, keys: &[Key], pool: &[[BigUint; 3]]) -> Result<Vec<Set>> {
    let mut sets = Vec::new();
    for (&(kind, width), pool) in keys.iter().zip(pool) {
        let value = near(random, width, pool)?;
        let all = ones(width);
        let masked = |mask: BigUint| Set::Masked(value.clone() & &mask, mask);
        sets.push(match kind {
            "exact" => masked(all),
            "lpm" => {
                let after = random.int_in_range(0..=width)?;
                masked((&all >> after) << after)
            }
            "optional" => masked(if random.arbitrary()? {
                all
            } else {
                BigUint::ZERO
            }),
            "ternary" => masked(match random.int_in_range(0..=3)? {
                0 => all,
                1 => BigUint::ZERO,
                2 => all ^ (BigUint::from(1u8) << random.int_in_range(0..=width - 1)?),
                _ => number(random, width)?,
            }),
            _ => {
                let other = near(random, width, pool)?;
                match random.int_in_range(0..=3)? {
                    0 => Set::Range(BigUint::ZERO, all),
                    _ => Set::Range(value.clone().min(other.clone()), value.max(other)),
                }
            }
        });
    }
    Ok(sets)
}

/// The sets and the priority of an entry that is mostly there.
pub fn mostly_known(
    random: Random<'_, '_>,
    keys: &[Key],
    pool: &[[BigUint; 3]],
    model: &Model,
    by_priority: bool,
) -> Result<(Vec<Set>, u32)> {
    if !model.entries.is_empty() && random.ratio(7, 8)? {
        let row = random.choose(&model.entries)?;
        return Ok((row.sets.clone(), row.priority));
    }
    let priority = if by_priority {
        random.int_in_range(1..=4)?
    } else {
        0
    };
    Ok((sets(random, keys, pool)?, priority))
}

/// The entry as a control plane writes it, in one of the forms that there are for its sets.
pub fn entry(
    random: Random<'_, '_>,
    keys: &[Key],
    sets: &[Set],
    priority: u32,
    spec: ActionSpec,
) -> Result<Entry> {
    let mut matches = Vec::new();
    for (&(kind, width), set) in keys.iter().zip(sets) {
        let plain = random.arbitrary()?;
        matches.push(match set {
            Set::Range(low, high) if low == high && plain => Match::Exact(low.clone()),
            Set::Range(low, high) if *low == BigUint::ZERO && *high == ones(width) && plain => {
                Match::Any
            }
            Set::Range(low, high) => Match::range(low.clone(), high.clone()),
            Set::Masked(value, _) if kind == "exact" => Match::Exact(value.clone()),
            Set::Masked(_, mask) if *mask == BigUint::ZERO && (plain || kind == "optional") => {
                Match::Any
            }
            Set::Masked(value, mask) if *mask == ones(width) && (plain || kind == "optional") => {
                Match::Exact(value.clone())
            }
            Set::Masked(value, mask) if kind == "lpm" => {
                Match::lpm(value.clone(), mask.count_ones() as u32)
            }
            Set::Masked(value, mask) => Match::ternary(value.clone(), mask.clone()),
        });
    }
    Ok(Entry {
        matches,
        priority,
        action: EntryAction::Run(spec),
    })
}
