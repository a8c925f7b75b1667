//! Tables that are written while packets pass.

use super::large::{answer, pipeline};
use super::switch;
use engine::{ControlError, DraftScope, Match, Switch};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Writes, and as many packets behind each as there are keys.
const WRITES: usize = 2_000;

/// Tables of each kind, and what they have keys of.
const TABLES: [(&str, &str); 5] = [
    ("few_bits", "h.h.a[8:0]: exact @name(\"a\");"),
    (
        "exact",
        "h.h.a: exact @name(\"a\"); h.h.b: exact @name(\"b\");",
    ),
    ("longest", "h.h.b: lpm @name(\"b\");"),
    (
        "masked",
        "h.h.a: exact @name(\"a\"); h.h.b: ternary @name(\"b\");",
    ),
    (
        "ranges",
        "h.h.a: exact @name(\"a\"); h.h.b: range @name(\"b\");",
    ),
];

/// The values of a key's fields: many entries match each, and each recurs.
const VALUES: u32 = 6;

/// A write: inserts, changes or deletes an entry, or sets what a miss does. The same for each switch.
struct Write {
    table: usize,
    kind: u64,
    a: u32,
    b: u32,
    size: u32,
    by: u32,
    /// Whether it is a batch of its own.
    batch: bool,
}

impl Write {
    fn new(random: &mut ChaCha8Rng) -> Self {
        let mut below = |most: u64| random.next_u64() % most;
        Write {
            table: below(TABLES.len() as u64) as usize,
            kind: below(8),
            a: below(VALUES.into()) as u32,
            b: below(VALUES.into()) as u32,
            size: below(4) as u32,
            by: below(1 << 20) as u32,
            batch: below(4) == 0,
        }
    }

    fn matches(&self) -> Vec<(&'static str, Match)> {
        let Write { a, b, size, .. } = *self;
        let exact = ("a", Match::exact(a));
        let width = 29 + size;
        let mask = u32::MAX << (32 - width);
        match TABLES[self.table].0 {
            "few_bits" => vec![exact],
            "exact" => vec![exact, ("b", Match::exact(b))],
            "longest" => vec![("b", Match::lpm(b & mask, width))],
            "masked" => vec![exact, ("b", Match::ternary(b & size, size))],
            _ => vec![exact, ("b", Match::range(b, b + size))],
        }
    }

    fn apply(&self, switch: &mut Switch) -> Result<(), ControlError> {
        let (name, _) = TABLES[self.table];
        let table = switch.table(name)?;
        let args = [("by", self.by.into())];
        // Only the last two tables have priorities.
        let priority = if self.table < 3 { 0 } else { 1 + self.size };
        let entry = switch.entry(table, &self.matches(), priority, "add", &args)?;
        if self.batch {
            switch.begin_batch(&DraftScope {
                tables: [table].into(),
                ..DraftScope::default()
            });
            while !switch.copy_to_batch(16) {}
            switch.edit_draft(true);
        }
        let done = match self.kind {
            0..=2 => switch.insert(table, entry),
            3..=4 => switch.modify(table, entry),
            5..=6 => switch.delete(table, &entry.matches, priority),
            _ => switch.set_default_by_name(name, "add", &args),
        };
        if self.batch {
            switch.edit_draft(false);
            switch.publish_batch();
        }
        done
    }
}

/// The first packet behind a write finds the table as it is then, with compiled code as with the interpreter, although
/// compiled code keeps what keys led to.
#[test]
fn writes_are_seen_at_once() {
    let mut ingress = "action add(bit<32> by) { h.h.c = h.h.c * 31 + by; }\n".to_owned();
    for (name, keys) in TABLES {
        ingress += &format!(
            "table {name} {{ key = {{ {keys} }} actions = {{ add; }} default_action = add(7); }}\n"
        );
    }
    let applied: String = TABLES.map(|(name, _)| format!("{name}.apply();")).concat();
    ingress += &format!("apply {{ s.egress_spec = 1; {applied} }}");
    let pipeline = pipeline(&ingress);
    let mut pair = [false, true].map(|how| switch(&pipeline, how));
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let (mut made, mut changed) = (0, 0);
    let mut before = Vec::new();
    for _ in 0..WRITES {
        let write = Write::new(&mut random);
        let [one, other] = pair.each_mut().map(|switch| write.apply(switch).is_ok());
        assert_eq!(one, other);
        made += usize::from(one);
        let keys = (0..VALUES).flat_map(|a| (0..VALUES).map(move |b| [a, b, 11]));
        let answers: Vec<_> = keys
            .map(|fields| {
                let [compiled, interpreted] = pair.each_mut().map(|switch| answer(switch, fields));
                assert_eq!(compiled, interpreted, "{fields:?}");
                compiled
            })
            .collect();
        changed += usize::from(answers != before);
        before = answers;
    }
    assert!(made > WRITES / 4, "only {made} writes were made");
    assert!(changed > made / 2, "only {changed} writes changed a packet");
}
