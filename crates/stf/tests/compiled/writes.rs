//! Tables that are written while packets pass: of each kind of match, with keys of each width, with direct counters and
//! meters, idle timeouts and action profiles.

use super::large::{answer_at, pipeline};
use super::state::state;
use super::switch;
use engine::{
    ControlError, CounterData, DirectOf, DraftScope, Entry, EntryAction, Group, Match, Member,
    MeterConfig, Switch,
};
use p4_ir::TableId;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use units::Instant;

/// Writes, and as many packets behind each as there are pairs of values.
const WRITES: u64 = 4_000;

/// The values of a key's fields: many entries match each, and each recurs.
const VALUES: u32 = 5;

/// Tables by name, with their keys, their actions and default, and other properties.
const TABLES: [[&str; 4]; 13] = [
    ["few_bits", "h.h.a[8:0]: exact @name(\"a\");", ADD, ""],
    [
        "exact",
        "h.h.a: exact @name(\"a\"); h.h.b: exact @name(\"b\");",
        ADD,
        "",
    ],
    [
        "ranges",
        "h.h.a: exact @name(\"a\"); h.h.b: range @name(\"b\");",
        ADD,
        "",
    ],
    ["counted", A_AND_B, ADD, "counters = packets;"],
    [
        "dated",
        "h.h.b: lpm @name(\"b\");",
        ADD,
        "counters = both; support_timeout = true;",
    ],
    ["idle", A_AND_B, ADD, "support_timeout = true;"],
    [
        "metered",
        A_AND_B,
        COLOURED,
        "meters = pace; counters = octets;",
    ],
    [
        "wide",
        "h.h.a: exact @name(\"a\"); h.h.b: ternary @name(\"b\"); (bit<96>)h.h.a: optional @name(\"w\");",
        ADD,
        "counters = rare;",
    ],
    ["long", "(bit<128>)h.h.b: lpm @name(\"b\");", ADD, ""],
    ["keyless", "", ADD, "counters = all;"],
    ["member", A_AND_B, ADD, "implementation = members;"],
    [
        "chosen",
        "h.h.a: exact @name(\"a\"); h.h.b: selector; h.h.a ++ h.h.b: selector @name(\"both\");",
        ADD,
        "implementation = choices; counters = chosen_packets;",
    ],
    [
        "drawn",
        "h.h.a: exact @name(\"a\"); h.h.b: selector;",
        ADD,
        "implementation = draws;",
    ],
];
const A_AND_B: &str = "h.h.a: exact @name(\"a\"); h.h.b: ternary @name(\"b\");";
const ADD: &str = "actions = { add; } default_action = add(7);";
const COLOURED: &str = "actions = { coloured; } default_action = coloured(7);";

const OBJECTS: &str = "
    direct_counter(CounterType.packets) packets;
    direct_counter(CounterType.packets_and_bytes) both;
    direct_counter(CounterType.bytes) octets;
    direct_counter(CounterType.packets) rare;
    direct_counter(CounterType.packets_and_bytes) all;
    direct_counter(CounterType.packets) chosen_packets;
    direct_meter<bit<2>>(MeterType.packets) pace;
    action_profile(16) members;
    action_selector(HashAlgorithm.crc16, 16, 16) choices;
    action_selector(HashAlgorithm.random, 16, 16) draws;
    action add(bit<32> by) { h.h.c = h.h.c * 31 + by; }
    action coloured(bit<32> by) { bit<2> c; pace.read(c); h.h.c = h.h.c * 31 + by + (bit<32>)c; }
";

/// The action profile of a table.
fn profile(table: &str) -> Option<&'static str> {
    match table {
        "member" => Some("members"),
        "chosen" => Some("choices"),
        "drawn" => Some("draws"),
        _ => None,
    }
}

/// Random choices, the same for each switch.
#[derive(Clone, Copy)]
struct Write {
    table: usize,
    kind: u64,
    a: u32,
    b: u32,
    size: u32,
    by: u32,
    /// Whether it is a separate batch, and how much of it is settled at once.
    batch: Option<usize>,
}

impl Write {
    fn new(random: &mut ChaCha8Rng) -> Self {
        let mut below = |most: u64| random.next_u64() % most;
        Write {
            table: below(TABLES.len() as u64) as usize,
            kind: below(16),
            a: below(VALUES.into()) as u32,
            b: below(VALUES.into()) as u32,
            size: below(4) as u32,
            by: below(1 << 20) as u32,
            batch: (below(3) == 0).then(|| below(2) as usize),
        }
    }

    /// The matches and the priority of an entry.
    fn key(&self) -> (Vec<(&'static str, Match)>, u32) {
        let Write { a, b, size, .. } = *self;
        let exact = ("a", Match::exact(a));
        let masked = ("b", Match::ternary(b & size, size));
        let mask = u32::MAX << (3 - size);
        match TABLES[self.table][0] {
            "dated" => (vec![("b", Match::lpm(b & mask, 29 + size))], 0),
            "long" => (vec![("b", Match::lpm(b & mask, 125 + size))], 0),
            "keyless" => (vec![], 0),
            "few_bits" | "chosen" | "drawn" => (vec![exact], 0),
            "exact" => (vec![exact, ("b", Match::exact(b))], 0),
            "ranges" => (vec![exact, ("b", Match::range(b, b + size))], 1 + size),
            "wide" if size == 0 => (vec![exact, masked, ("w", Match::exact(a))], 1 + b),
            _ => (vec![exact, masked], 1 + size),
        }
    }

    fn entry(&self, switch: &Switch, table: TableId) -> Result<Entry, ControlError> {
        let (matches, priority) = self.key();
        let [name, _, actions, _] = TABLES[self.table];
        let action = if actions == COLOURED {
            "coloured"
        } else {
            "add"
        };
        let args = [("by", self.by.into())];
        let mut entry = switch.entry(table, &matches, priority, action, &args)?;
        match profile(name) {
            Some("members") => entry.action = EntryAction::Member(self.size),
            Some(_) if self.by.is_multiple_of(2) => entry.action = EntryAction::Group(self.b % 2),
            Some(_) if self.by.is_multiple_of(3) => entry.action = EntryAction::Member(self.size),
            _ => {}
        }
        Ok(entry)
    }

    /// Writes, and sends the same packets while a batch is prepared; what they were answered.
    fn apply(&self, switch: &mut Switch, now: Instant) -> Result<Vec<Vec<u8>>, ControlError> {
        let name = TABLES[self.table][0];
        let table = switch.table(name)?;
        let profile = profile(name).map(|name| switch.object(name)).transpose()?;
        let Some(most) = self.batch else {
            return self.write(switch, table).map(|()| vec![]);
        };
        // A batch copies only what it changes: neither the table's cells nor the members of its profile are in it.
        let entries = self.kind < if profile.is_some() { 8 } else { 13 };
        switch.begin_batch(&DraftScope {
            tables: entries.then_some(table).into_iter().collect(),
            profiles: profile.into_iter().collect(),
            ..DraftScope::default()
        });
        while !switch.copy_to_batch(16) {}
        switch.edit_draft(true);
        let done = self.write(switch, table);
        switch.edit_draft(false);
        let answers = answers(switch, now);
        switch.publish_batch();
        switch.settle(most);
        done.map(|()| answers)
    }

    fn write(&self, switch: &mut Switch, table: TableId) -> Result<(), ControlError> {
        let name = TABLES[self.table][0];
        if let Some(profile) = profile(name).filter(|_| self.kind >= 8) {
            let profile = switch.object(profile)?;
            let args = [("by", self.by.into())];
            let member = Member {
                id: self.size,
                action: switch.action_spec(table, "add", &args)?,
            };
            let group = Group {
                id: self.b % 2,
                members: (0..=self.a % 4)
                    .map(|id| (id, 1 + (id + self.b) % 3))
                    .collect(),
            };
            return match self.kind {
                8..=9 => switch.member_insert(profile, member),
                10..=11 => switch.member_modify(profile, member),
                12 => switch.group_insert(profile, group),
                13..=14 => switch.group_modify(profile, group),
                _ if self.by.is_multiple_of(2) => switch.group_delete(profile, group.id),
                _ => switch.member_delete(profile, member.id),
            };
        }
        let entry = self.entry(switch, table)?;
        let of = match self.by % 4 {
            0 => DirectOf::Default,
            _ => DirectOf::Entry(&entry.matches, entry.priority),
        };
        match self.kind {
            0..=4 => switch.insert(table, entry),
            5..=8 => switch.modify(table, entry),
            9..=11 => switch.delete(table, &entry.matches, entry.priority),
            12 => switch.set_default(table, entry.action),
            13 if name == "metered" => {
                let config = MeterConfig {
                    cir: f64::from(self.by % 50),
                    cburst: 3,
                    pir: 100.0,
                    pburst: 5,
                    eburst: 0,
                };
                switch.direct_meter_write(table, of, Some(config))
            }
            13 if self.batch.is_none() => switch.reset_default(table),
            _ => {
                let data = CounterData {
                    packets: self.by.into(),
                    octets: self.a.into(),
                };
                switch.direct_counter_write(table, of, data)
            }
        }
    }
}

/// What a switch answers to packets with each pair of values, one every 100 µs.
fn answers(switch: &mut Switch, now: Instant) -> Vec<Vec<u8>> {
    let values = (0..VALUES).flat_map(|a| (0..VALUES).map(move |b| [a, b, 11]));
    let times = (0..).map(|number| Instant::from_nanos(now.as_nanos() + number * 100_000));
    times
        .zip(values)
        .map(|(now, fields)| answer_at(switch, now, fields))
        .collect()
}

/// Packets do and leave the same with compiled code as with the interpreter, with any writes between them, although
/// compiled code keeps what keys led to. The first packet behind a write finds the table as it is then.
#[test]
fn writes_are_seen_at_once() {
    let mut ingress = OBJECTS.to_owned();
    for [name, keys, actions, rest] in TABLES {
        ingress += &format!("table {name} {{ key = {{ {keys} }} {actions} {rest} }}\n");
    }
    let applied: String = TABLES.map(|[name, ..]| format!("{name}.apply();")).concat();
    ingress += &format!("apply {{ s.egress_spec = 1; {applied} }}");
    let pipeline = pipeline(&ingress);
    let mut pair = [false, true].map(|how| switch(&pipeline, how));
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut made = [0; TABLES.len()];
    let mut changed = 0;
    let mut before = Vec::new();
    for round in 0..WRITES {
        let write = Write::new(&mut random);
        let [now, then] = [0, 5].map(|ms| Instant::from_nanos((10 * round + ms) * 1_000_000));
        let [compiled, interpreted] = pair.each_mut().map(|switch| write.apply(switch, now));
        assert_eq!(compiled.as_ref().ok(), interpreted.as_ref().ok());
        made[write.table] += usize::from(compiled.is_ok());
        let [answers, interpreted] = pair.each_mut().map(|switch| answers(switch, then));
        assert_eq!(answers, interpreted);
        changed += u64::from(answers != before);
        before = answers;
        if round % 16 == 0 {
            let [compiled, interpreted] = pair.each_ref().map(state);
            assert_eq!(compiled, interpreted);
        }
    }
    for ([name, ..], made) in TABLES.iter().zip(made) {
        assert!(made > 30, "only {made} writes to {name} were made");
    }
    assert!(
        changed > WRITES / 3,
        "only {changed} writes changed a packet"
    );
}
