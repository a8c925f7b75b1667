//! Tables of all match kinds hit what a list of their entries says when it is read from end to end, also while a batch
//! is prepared that packets are to see as a whole, and count their hits.
//!
//! The input is the random source of a table's keys, of what a control plane does to it, and of packets in between.
#![no_main]

mod draw;
mod model;
#[path = "../program/mod.rs"]
mod program;

use draw::{Random, entry, keys, mostly_known, near, number, sets};
use engine::{
    ActionSpec, ControlError, DirectOf, DraftScope, Entry, EntryAction, Pipeline, Switch,
    SwitchConfig,
};
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::{Corpus, fuzz_target};
use model::{Key, Model, Row};
use num_bigint::BigUint;
use p4_ir::{ActionId, TableId};
use program::Source;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

const TABLE: TableId = TableId(0);
/// What a miss gives until the default is set.
const MISS: u64 = 0xdead_beef;

/// A switch, and what its table should hold.
struct Run {
    keys: Vec<Key>,
    /// Of few values, so that entries meet one another and packets meet entries.
    pool: Vec<[BigUint; 3]>,
    by_priority: bool,
    switch: Switch,
    give: ActionId,
    /// What packets see.
    seen: Model,
    batch: Option<Batch>,
    /// Packets that hit an entry, by its `id`.
    hits: HashMap<u64, u64>,
    next_id: u64,
}

/// A batch that is being prepared.
struct Batch {
    model: Model,
    /// All entries have been copied, and it can be changed.
    copied: bool,
}

fuzz_target!(|input: &[u8]| -> Corpus {
    match run(&mut Unstructured::new(input)) {
        Ok(()) => Corpus::Keep,
        Err(_) => Corpus::Reject,
    }
});

fn run(random: Random<'_, '_>) -> Result<()> {
    let mut run = Run::new(random)?;
    while !random.is_empty() {
        run.step(random)?;
    }
    run.check_held(false);
    Ok(())
}

impl Run {
    fn new(random: Random<'_, '_>) -> Result<Run> {
        let keys = keys(random)?;
        let switch = Switch::with_pipeline(pipeline(&keys), SwitchConfig::default());
        let mut pool = Vec::new();
        for &(_, width) in &keys {
            let three = [
                number(random, width)?,
                number(random, width)?,
                number(random, width)?,
            ];
            pool.push(three);
        }
        Ok(Run {
            by_priority: keys
                .iter()
                .any(|(kind, _)| !matches!(*kind, "exact" | "lpm")),
            give: switch.action(TABLE, "give").expect("the action is there"),
            keys,
            pool,
            switch,
            seen: Model::default(),
            batch: None,
            hits: HashMap::new(),
            next_id: 0,
        })
    }

    /// Something that a control plane does, or a packet.
    fn step(&mut self, random: Random<'_, '_>) -> Result<()> {
        match random.int_in_range(0..=13)? {
            change @ 0..=5 => match &mut self.batch {
                Some(batch) if !batch.copied => self.copy(random)?,
                Some(_) => {
                    self.switch.edit_draft(true);
                    self.change(random, change)?;
                    self.switch.edit_draft(false);
                }
                None => self.change(random, change)?,
            },
            6..=9 => {
                let mut values = Vec::new();
                for (key, pool) in self.keys.iter().zip(&self.pool) {
                    values.push(near(random, key.1, pool)?);
                }
                self.send(&values);
            }
            10 => {
                self.switch.begin_batch(&DraftScope {
                    tables: [TABLE].into(),
                    ..DraftScope::default()
                });
                self.batch = Some(Batch {
                    model: self.seen.clone(),
                    copied: false,
                });
            }
            11 => self.copy(random)?,
            12 => match self.batch.take_if(|batch| batch.copied) {
                Some(batch) => {
                    self.switch.publish_batch();
                    self.seen = batch.model;
                }
                None => self.check_held(false),
            },
            _ => {
                if self.batch.as_ref().is_some_and(|batch| batch.copied) {
                    self.check_held(true);
                }
                self.switch.discard_batch();
                self.batch = None;
            }
        }
        Ok(())
    }

    /// Continues the batch.
    fn copy(&mut self, random: Random<'_, '_>) -> Result<()> {
        let most = random.int_in_range(1..=4)?;
        let copied = self.switch.copy_to_batch(most);
        if let Some(batch) = &mut self.batch {
            batch.copied = copied;
        }
        Ok(())
    }

    /// What the control plane works on.
    fn edited(&mut self) -> &mut Model {
        match &mut self.batch {
            Some(batch) => &mut batch.model,
            None => &mut self.seen,
        }
    }

    /// Three kinds insert; the others modify, delete and set the default.
    fn change(&mut self, random: Random<'_, '_>, kind: u8) -> Result<()> {
        let give = self.give;
        let gives = random.arbitrary::<u32>()?.into();
        if kind == 5 {
            let set = self
                .switch
                .set_default(TABLE, EntryAction::Run(spec(give, gives)));
            set.expect("the default can be set");
            self.edited().default = Some(gives);
            return Ok(());
        }
        let model = match &self.batch {
            Some(batch) => &batch.model,
            None => &self.seen,
        };
        let (sets, priority) = match kind {
            0..=2 => {
                let priority = if self.by_priority { 1..=4 } else { 0..=0 };
                let priority = random.int_in_range(priority)?;
                (sets(random, &self.keys, &self.pool)?, priority)
            }
            _ => mostly_known(random, &self.keys, &self.pool, model, self.by_priority)?,
        };
        let entry = entry(random, &self.keys, &sets, priority, spec(give, gives))?;
        let known = model.find(&sets, priority);
        match (kind, known) {
            (0..=2, _) => {
                match self.switch.insert(TABLE, entry) {
                    Ok(()) => assert_eq!(known, None, "inserted twice: {sets:x?}"),
                    Err(ControlError::Exists { .. }) => assert!(known.is_some(), "{sets:x?}"),
                    Err(error) => panic!("{error}"),
                }
                if known.is_none() {
                    self.next_id += 1;
                    let id = self.next_id;
                    self.edited().entries.push(Row {
                        sets,
                        priority,
                        gives,
                        id,
                    });
                }
            }
            (3, _) => {
                let modified = self.switch.modify(TABLE, entry).is_ok();
                assert_eq!(modified, known.is_some(), "{sets:x?}");
                if let Some(at) = known {
                    self.edited().entries[at].gives = gives;
                }
            }
            _ => {
                let deleted = self.switch.delete(TABLE, &entry.matches, priority);
                assert_eq!(deleted.is_ok(), known.is_some(), "{sets:x?}");
                if let Some(at) = known {
                    self.edited().entries.remove(at);
                }
            }
        }
        Ok(())
    }

    /// Sends a packet with these keys, and compares.
    fn send(&mut self, values: &[BigUint]) {
        let mut packet = BigUint::ZERO;
        for ((_, width), value) in self.keys.iter().zip(values) {
            packet = (packet << *width) | value;
        }
        let bits: u32 = self.keys.iter().map(|(_, width)| width).sum();
        packet <<= bits.wrapping_neg() % 8;
        let octets = packet.to_bytes_be();
        let mut padded = vec![0; (bits.div_ceil(8) as usize).saturating_sub(octets.len())];
        padded.extend(octets);
        let sent = program::send(&mut self.switch, padded).expect("the packet leaves");
        let found = self.seen.lookup(&self.keys, values);
        let gives = found.map_or(self.seen.default.unwrap_or(MISS), |row| row.gives);
        let mut expected = vec![u8::from(found.is_some())];
        expected.extend((gives as u32).to_be_bytes());
        assert_eq!(
            sent, expected,
            "{values:x?} should hit {found:x?}\nof {:x?}\nwith {:?}",
            self.seen.entries, self.keys
        );
        if let Some(row) = found {
            *self.hits.entry(row.id).or_default() += 1;
        }
    }

    /// Compares all entries and their counters: those that packets see, or those of the batch.
    fn check_held(&mut self, of_batch: bool) {
        self.switch.edit_draft(of_batch);
        let model = match &self.batch {
            Some(batch) if of_batch => &batch.model,
            _ => &self.seen,
        };
        let mut held = Vec::new();
        for entry in self.switch.entries(TABLE).expect("the table is there") {
            let of = DirectOf::Entry(&entry.matches, entry.priority);
            let counted = self.switch.direct_counter_read(TABLE, of);
            let packets = counted.expect("the table counts").packets;
            held.push((entry.priority, gives(&entry), packets));
        }
        let hits = |row: &Row| self.hits.get(&row.id).copied().unwrap_or(0);
        let rows = model.entries.iter();
        let expected = rows.map(|row| (row.priority, row.gives, hits(row)));
        assert_eq!(held, expected.collect::<Vec<_>>());
        self.switch.edit_draft(false);
    }
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
            "    direct_counter(CounterType.packets) hits;
    action give(bit<32> value) {{ hdr.o.value = value; }}
    table t {{
        key = {{
{names}        }}
        actions = {{ give; }}
        default_action = give({MISS});
        counters = hits;
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
