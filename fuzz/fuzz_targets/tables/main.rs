//! Tables of all match kinds hit what a list of their entries says when it is read from end to end.
//!
//! The input is the random source of a table's keys, of what a control plane does to it, and of packets in between.
#![no_main]

mod program;

use engine::{ActionSpec, ControlError, Entry, EntryAction, Match, Pipeline, Switch, SwitchConfig};
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::{Corpus, fuzz_target};
use num_bigint::BigUint;
use p4_ir::{ActionId, TableId};
use program::Source;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

type Random<'r, 'a> = &'r mut Unstructured<'a>;

const TABLE: TableId = TableId(0);
const KINDS: [&str; 5] = ["exact", "lpm", "ternary", "range", "optional"];
/// What a miss gives until the default is set.
const MISS: u64 = 0xdead_beef;

/// A key: its match kind and its width.
type Key = (&'static str, u32);

/// The values that one key of an entry matches.
#[derive(Clone, Debug, PartialEq)]
enum Set {
    /// Those that agree under the mask, which has ones before zeros for a prefix.
    Masked(BigUint, BigUint),
    Range(BigUint, BigUint),
}

/// What the engine should hold: entries in the order in which they came.
#[derive(Default)]
struct Model {
    entries: Vec<Row>,
    default: Option<u64>,
}

#[derive(Debug)]
struct Row {
    sets: Vec<Set>,
    priority: u32,
    gives: u64,
}

fuzz_target!(|input: &[u8]| -> Corpus {
    match run(&mut Unstructured::new(input)) {
        Ok(()) => Corpus::Keep,
        Err(_) => Corpus::Reject,
    }
});

fn run(random: Random<'_, '_>) -> Result<()> {
    let keys = keys(random)?;
    let pipeline = pipeline(&keys);
    let mut switch = Switch::with_pipeline(pipeline, SwitchConfig::default());
    let give = switch.action(TABLE, "give").expect("the action is there");
    // Of few values, so that entries meet one another and packets meet entries.
    let mut pool = Vec::new();
    for &(_, width) in &keys {
        let three = [
            number(random, width)?,
            number(random, width)?,
            number(random, width)?,
        ];
        pool.push(three);
    }
    let mut model = Model::default();
    let by_priority = keys
        .iter()
        .any(|(kind, _)| !matches!(*kind, "exact" | "lpm"));
    while !random.is_empty() {
        match random.int_in_range(0..=9)? {
            0..=2 => {
                let sets = sets(random, &keys, &pool)?;
                let priority = if by_priority {
                    random.int_in_range(1..=4)?
                } else {
                    0
                };
                let gives = random.arbitrary::<u32>()?.into();
                let entry = entry(random, &keys, &sets, priority, spec(give, gives))?;
                let known = model.find(&sets, priority);
                match switch.insert(TABLE, entry) {
                    Ok(()) => assert_eq!(known, None, "inserted twice: {sets:x?}"),
                    Err(ControlError::Exists { .. }) => assert!(known.is_some(), "{sets:x?}"),
                    Err(error) => panic!("{error}"),
                }
                if known.is_none() {
                    model.entries.push(Row {
                        sets,
                        priority,
                        gives,
                    });
                }
            }
            3 => {
                let (sets, priority) = mostly_known(random, &keys, &pool, &model, by_priority)?;
                let gives = random.arbitrary::<u32>()?.into();
                let entry = entry(random, &keys, &sets, priority, spec(give, gives))?;
                let known = model.find(&sets, priority);
                assert_eq!(
                    switch.modify(TABLE, entry).is_ok(),
                    known.is_some(),
                    "{sets:x?}"
                );
                if let Some(at) = known {
                    model.entries[at].gives = gives;
                }
            }
            4 => {
                let (sets, priority) = mostly_known(random, &keys, &pool, &model, by_priority)?;
                let entry = entry(random, &keys, &sets, priority, spec(give, 0))?;
                let known = model.find(&sets, priority);
                let deleted = switch.delete(TABLE, &entry.matches, priority);
                assert_eq!(deleted.is_ok(), known.is_some(), "{sets:x?}");
                if let Some(at) = known {
                    model.entries.remove(at);
                }
            }
            5 => {
                let gives = random.arbitrary::<u32>()?.into();
                let set = switch.set_default(TABLE, EntryAction::Run(spec(give, gives)));
                set.expect("the default can be set");
                model.default = Some(gives);
            }
            _ => {
                let mut values = Vec::new();
                for (key, pool) in keys.iter().zip(&pool) {
                    values.push(near(random, key.1, pool)?);
                }
                judge(&mut switch, &keys, &model, &values);
            }
        }
    }
    let held = switch.entries(TABLE).expect("the table is there");
    let held: Vec<_> = held
        .iter()
        .map(|entry| (entry.priority, gives(entry)))
        .collect();
    let expected = model.entries.iter().map(|row| (row.priority, row.gives));
    assert_eq!(held, expected.collect::<Vec<_>>());
    Ok(())
}

/// Sends a packet with these keys, and compares.
fn judge(switch: &mut Switch, keys: &[Key], model: &Model, values: &[BigUint]) {
    let mut packet = BigUint::ZERO;
    for ((_, width), value) in keys.iter().zip(values) {
        packet = (packet << *width) | value;
    }
    let bits: u32 = keys.iter().map(|(_, width)| width).sum();
    packet <<= bits.wrapping_neg() % 8;
    let octets = packet.to_bytes_be();
    let mut padded = vec![0; (bits.div_ceil(8) as usize).saturating_sub(octets.len())];
    padded.extend(octets);
    let sent = program::send(switch, padded).expect("the packet leaves");
    let found = model.lookup(keys, values);
    let gives = found.map_or(model.default.unwrap_or(MISS), |row| row.gives);
    let mut expected = vec![u8::from(found.is_some())];
    expected.extend((gives as u32).to_be_bytes());
    assert_eq!(
        sent, expected,
        "{values:x?} should hit {found:x?}\nof {:x?}\nwith {keys:?}",
        model.entries
    );
}

impl Model {
    fn find(&self, sets: &[Set], priority: u32) -> Option<usize> {
        let same = |row: &Row| row.sets == sets && row.priority == priority;
        self.entries.iter().position(same)
    }

    /// The longest prefix, or the largest priority and of these the oldest.
    fn lookup(&self, keys: &[Key], values: &[BigUint]) -> Option<&Row> {
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

fn ones(width: u32) -> BigUint {
    (BigUint::from(1u8) << width) - 1u8
}

fn spec(action: ActionId, gives: u64) -> ActionSpec {
    ActionSpec {
        action,
        args: vec![gives.into()],
    }
}

fn gives(entry: &Entry) -> u64 {
    match &entry.action {
        EntryAction::Run(spec) => spec.args[0].iter_u64_digits().next().unwrap_or(0),
        other => panic!("no entry does {other:?}"),
    }
}

/// One to four keys, of which at most one is lpm.
fn keys(random: Random<'_, '_>) -> Result<Vec<Key>> {
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

/// The program with a table of these keys.
fn pipeline(keys: &[Key]) -> Arc<Pipeline> {
    thread_local! {
        static KNOWN: RefCell<HashMap<Vec<Key>, Arc<Pipeline>>> = RefCell::default();
    }
    KNOWN.with_borrow_mut(|known| {
        if known.len() > 1000 {
            known.clear();
        }
        let make = || source(keys).pipeline();
        known.entry(keys.to_vec()).or_insert_with(make).clone()
    })
}

fn source(keys: &[Key]) -> Source {
    let mut fields = String::new();
    let mut names = String::new();
    for (i, (kind, width)) in keys.iter().enumerate() {
        fields += &format!("    bit<{width}> k{i};\n");
        names += &format!("            hdr.i.k{i}: {kind};\n");
    }
    let bits: u32 = keys.iter().map(|(_, width)| width).sum();
    if !bits.is_multiple_of(8) {
        fields += &format!("    bit<{}> rest;\n", 8 - bits % 8);
    }
    Source {
        declarations: format!(
            "header in_t {{\n{fields}}}\nheader out_t {{\n    bit<8> hit;\n    bit<32> value;\n}}\n"
        ),
        headers: "    in_t i;\n    out_t o;\n".into(),
        parser: "        packet.extract(hdr.i);\n".into(),
        locals: format!(
            "    action give(bit<32> value) {{ hdr.o.value = value; }}
    table t {{
        key = {{
{names}        }}
        actions = {{ give; }}
        default_action = give({MISS});
    }}
"
        ),
        ingress: "        hdr.o.setValid();
        hdr.o.hit = 0;
        if (t.apply().hit) { hdr.o.hit = 1; }
"
        .into(),
        deparser: "        packet.emit(hdr.o);\n".into(),
        ..Source::default()
    }
}

/// A number of a width: small, great, or any.
fn number(random: Random<'_, '_>, width: u32) -> Result<BigUint> {
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
fn near(random: Random<'_, '_>, width: u32, pool: &[BigUint; 3]) -> Result<BigUint> {
    let value = random.choose(pool)?.clone();
    Ok(match random.int_in_range(0..=4)? {
        0 => value ^ (BigUint::from(1u8) << random.int_in_range(0..=width - 1)?),
        1 => (value + 1u8) & ones(width),
        _ => value,
    })
}

fn sets(random: Random<'_, '_>, keys: &[Key], pool: &[[BigUint; 3]]) -> Result<Vec<Set>> {
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
fn mostly_known(
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
fn entry(
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
