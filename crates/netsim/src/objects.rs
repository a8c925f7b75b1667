//! The state of a switch's program: the cells of its counters, direct counters and registers.

use crate::results::{CountedEntry, CounterRecord, DirectCounterRecord, RegisterRecord};
use engine::{CounterData, Entry, Match, Switch};
use num_bigint::BigUint;
use p4_ir::{ExternId, MatchKind, Scalar};

/// The kinds of objects that are recorded.
#[derive(Debug)]
pub(crate) enum Kind {
    Counter,
    DirectCounter,
    Register,
}

/// The kind of an object, or `None` if it is not recorded.
pub(crate) fn kind(switch: &Switch, object: ExternId) -> Option<Kind> {
    if switch.counter_cells(object).is_some() {
        return Some(Kind::Counter);
    }
    if switch.register_cells(object).is_some() {
        return Some(Kind::Register);
    }
    let table = switch.program()[object].table?;
    let counts = switch.direct_counter_cells(table).is_some();
    let is_meter = switch.program()[object].type_name.ends_with("meter");
    (counts && !is_meter).then_some(Kind::DirectCounter)
}

/// The IDs of a program's objects.
pub(crate) fn all(switch: &Switch) -> impl Iterator<Item = ExternId> + use<> {
    (0..switch.program().externs.len() as u32).map(ExternId)
}

/// Reads up to `most` cells: packets and octets, or the two lowest words of a register cell.
pub(crate) fn read_cells(switch: &Switch, object: ExternId, most: usize, into: &mut Vec<[u64; 2]>) {
    let pair = |cell: &CounterData| [cell.packets, cell.octets];
    into.clear();
    if let Some(cells) = switch.counter_cells(object) {
        into.extend(cells.iter().take(most).map(pair));
    } else if let Some(register) = switch.register_cells(object) {
        let cells = register.cells.chunks_exact(register.limbs).take(most);
        into.extend(cells.map(|words| [words[0], words.get(1).copied().unwrap_or(0)]));
    } else if let Some(table) = switch.program()[object].table {
        let cells = switch.direct_counter_cells(table).into_iter().flatten();
        into.extend(cells.take(most).map(|(_, cell)| pair(&cell)));
    }
}

/// The cells of a counter that are not zero.
pub(crate) fn counter(switch: &Switch, object: ExternId) -> CounterRecord {
    let cells = switch.counter_cells(object).unwrap_or_default();
    let mut record = CounterRecord {
        size: cells.len() as u64,
        ..CounterRecord::default()
    };
    let counted = |cell: &CounterData| cell.packets != 0 || cell.octets != 0;
    for (index, cell) in (0..).zip(cells).filter(|(_, cell)| counted(cell)) {
        record.index.push(index);
        record.packets.push(cell.packets);
        record.octets.push(cell.octets);
    }
    record
}

/// All cells of a direct counter.
pub(crate) fn direct_counter(switch: &Switch, object: ExternId) -> DirectCounterRecord {
    let mut record = DirectCounterRecord::default();
    let Some(table) = switch.program()[object].table else {
        return record;
    };
    let definition = &switch.program()[table];
    record.table = definition.name.clone();
    let keys = definition.keys.iter();
    let matched = keys.filter(|key| key.kind != MatchKind::Selector);
    let keys: Vec<&str> = matched.map(|key| key.name.as_str()).collect();
    for (entry, cell) in switch.direct_counter_cells(table).into_iter().flatten() {
        record.packets.push(cell.packets);
        record.octets.push(cell.octets);
        if let Some(entry) = entry {
            record.entries.push(counted_entry(&keys, entry));
        }
    }
    record
}

fn counted_entry(keys: &[&str], entry: &Entry) -> CountedEntry {
    let matches = keys.iter().zip(&entry.matches);
    CountedEntry {
        matches: matches
            .map(|(key, value)| (key.to_string(), notation(value)))
            .collect(),
        priority: entry.priority,
    }
}

/// Formats a match in the notation of P4.
fn notation(value: &Match) -> String {
    let hex = |value: &BigUint| format!("{value:#x}");
    match value {
        Match::Any => "_".to_string(),
        Match::Exact(value) => hex(value),
        Match::Lpm { value, prefix } => format!("{}/{prefix}", hex(value)),
        Match::Ternary { value, mask } => format!("{} &&& {}", hex(value), hex(mask)),
        Match::Range { low, high } => format!("{}..{}", hex(low), hex(high)),
    }
}

/// The cells of a register that are not zero.
pub(crate) fn register(switch: &Switch, object: ExternId) -> RegisterRecord {
    let Some(register) = switch.register_cells(object) else {
        return RegisterRecord::default();
    };
    let program = switch.program();
    let ty = program[object].type_args.first();
    let scalar = ty.and_then(|ty| ty.scalar(program));
    let mut record = RegisterRecord {
        size: (register.cells.len() / register.limbs) as u64,
        width: scalar.map_or(0, Scalar::width),
        signed: matches!(scalar, Some(Scalar::Int(_))),
        ..RegisterRecord::default()
    };
    let cells = register.cells.chunks_exact(register.limbs);
    let written = |words: &&[u64]| words.iter().any(|word| *word != 0);
    for (index, words) in (0..).zip(cells).filter(|(_, words)| written(words)) {
        record.index.push(index);
        record.words.extend_from_slice(words);
    }
    record
}
