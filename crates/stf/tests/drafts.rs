//! A batch that is prepared while packets pass has the same effect as one that is carried out between two packets.

mod support;

use engine::{
    ActionSpec, ControlError, CounterData, DirectOf, DraftScope, Entry, EntryAction, Group, Match,
    Member, MeterConfig, Packet, Pipeline, Replica, Switch, SwitchConfig,
};
use p4_ir::{ActionId, ExternId, TableId};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use units::Instant;

/// A table of each kind of index, one of them with an action selector. What a packet met is in its octets.
const PROGRAM: &str = "#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<8> c; bit<8> x; bit<8> y; bit<8> z; bit<8> r; bit<8> m; }
struct H { h_t h; } struct M { bit<8> colour; bit<8> paced; }
parser P(packet_in p, out H h, inout M m, inout standard_metadata_t s) {
    value_set<bit<8>>(4) known;
    state start { p.extract(h.h); transition select(h.h.a) { known: marked; _: accept; } }
    state marked { h.h.m = 1; transition accept; }
}
control V(inout H h, inout M m) { apply {} }
control I(inout H h, inout M m, inout standard_metadata_t s) {
    action x(bit<8> v) { h.h.x = v; }
    action y(bit<8> v) { h.h.y = v; }
    action z(bit<8> v) { h.h.z = v; }
    action flood(bit<16> v) { s.mcast_grp = v; }
    direct_counter(CounterType.packets) hits;
    direct_meter<bit<8>>(MeterType.packets) pace;
    register<bit<8>>(4) cells;
    register<bit<80>>(4) wide;
    counter(8, CounterType.packets) visits;
    meter(8, MeterType.packets) paces;
    action_selector(HashAlgorithm.crc16, 64, 16) pick;
    table exact {
        key = { h.h.a: exact; h.h.b: exact; }
        actions = { x; flood; NoAction; }
        default_action = NoAction();
        counters = hits; size = 400; support_timeout = true;
    }
    table array { key = { h.h.c: exact; } actions = { flood; x; NoAction; } default_action = NoAction(); }
    table lpm {
        key = { h.h.b: lpm; }
        actions = { y; NoAction; }
        default_action = NoAction();
        meters = pace;
    }
    table ternary {
        key = { h.h.b: ternary; h.h.c: range; h.h.a: selector; }
        actions = { z; NoAction; }
        default_action = NoAction();
        implementation = pick;
    }
    apply {
        s.egress_spec = 1;
        exact.apply(); array.apply(); lpm.apply(); ternary.apply();
        paces.execute_meter((bit<32>)(h.h.c & 7), m.paced);
        h.h.m = h.h.m | m.colour << 4 | m.paced << 6;
        visits.count((bit<32>)(h.h.b & 15));
        bit<8> held;
        cells.read(held, (bit<32>)(h.h.a & 3));
        bit<80> long;
        wide.read(long, (bit<32>)(h.h.b & 3));
        wide.write((bit<32>)(h.h.b & 3), long + (3 << 64 | 1));
        h.h.r = held ^ long[7:0] ^ long[71:64];
        cells.write((bit<32>)(h.h.a & 3), held + 1);
    }
}
control E(inout H h, inout M m, inout standard_metadata_t s) { apply {} }
control D(packet_out p, in H h) { apply { p.emit(h.h); } }
V1Switch(P(), V(), I(), E(), V(), D()) main;";

/// A change of a control plane.
#[derive(Clone, Debug)]
enum Change {
    Insert(TableId, Entry),
    Modify(TableId, Entry),
    Delete(TableId, Entry),
    Default(TableId, EntryAction),
    ResetDefault(TableId),
    Count(Option<Entry>, CounterData),
    Meter(Option<Entry>, Option<MeterConfig>),
    InsertMember(Member),
    ModifyMember(Member),
    DeleteMember(u32),
    InsertGroup(Group),
    ModifyGroup(Group),
    DeleteGroup(u32),
    ClearDirectColours(Option<Entry>),
    Register(u64, u8),
    Wide(u64, u128),
    /// Of a cell, or of all.
    Visits(Option<u64>, CounterData),
    Pace(Option<u64>, Option<MeterConfig>),
    ClearColours(u64),
    ValueSet(Vec<Vec<Match>>),
    Multicast(u16, Vec<Replica>),
}

/// What is changed by number.
struct Names {
    tables: [TableId; 4],
    actions: [Vec<ActionId>; 4],
    selector: ExternId,
    register: ExternId,
    wide: ExternId,
    visits: ExternId,
    paces: ExternId,
}

/// Cells of `visits` and of `paces`.
const CELLS: u64 = 8;

impl Names {
    fn new(switch: &Switch) -> Names {
        let table = |name| switch.table(name).unwrap();
        let tables = ["exact", "array", "lpm", "ternary"].map(table);
        let program = switch.program();
        let actions = tables.map(|table| program[table].actions.iter().map(|a| a.action).collect());
        Names {
            tables,
            actions,
            selector: switch.object("pick").unwrap(),
            register: switch.object("cells").unwrap(),
            wide: switch.object("wide").unwrap(),
            visits: switch.object("visits").unwrap(),
            paces: switch.object("paces").unwrap(),
        }
    }

    fn scope(&self) -> DraftScope {
        DraftScope {
            tables: self.tables.into(),
            profiles: [self.selector].into(),
            replication: true,
        }
    }

    fn carry_out(&self, switch: &mut Switch, change: Change) -> Result<(), ControlError> {
        let [exact, _, lpm, _] = self.tables;
        match change {
            Change::Insert(table, entry) => switch.insert(table, entry),
            Change::Modify(table, entry) => switch.modify(table, entry),
            Change::Delete(table, entry) => switch.delete(table, &entry.matches, entry.priority),
            Change::Default(table, action) => switch.set_default(table, action),
            Change::ResetDefault(table) => switch.reset_default(table),
            Change::Count(of, data) => switch.direct_counter_write(exact, direct(&of), data),
            Change::Meter(of, config) => switch.direct_meter_write(lpm, direct(&of), config),
            Change::ClearDirectColours(of) => switch.direct_meter_clear_colours(lpm, direct(&of)),
            Change::Visits(at, data) => {
                let mut cells = cells_of(at);
                cells.try_for_each(|at| switch.counter_write(self.visits, at, data))
            }
            Change::Pace(at, config) => {
                let mut cells = cells_of(at);
                cells.try_for_each(|at| switch.meter_write(self.paces, at, config))
            }
            Change::ClearColours(at) => switch.meter_clear_colours(self.paces, at),
            Change::Wide(at, value) => switch.register_write(self.wide, at, &value.into()),
            Change::InsertMember(member) => switch.member_insert(self.selector, member),
            Change::ModifyMember(member) => switch.member_modify(self.selector, member),
            Change::DeleteMember(id) => switch.member_delete(self.selector, id),
            Change::InsertGroup(group) => switch.group_insert(self.selector, group),
            Change::ModifyGroup(group) => switch.group_modify(self.selector, group),
            Change::DeleteGroup(id) => switch.group_delete(self.selector, id),
            Change::Register(at, value) => switch.register_write(self.register, at, &value.into()),
            Change::ValueSet(members) => switch.value_set_write(p4_ir::ValueSetId(0), members),
            Change::Multicast(group, replicas) => switch.set_multicast_group(group, replicas),
        }
    }

    /// All that a control plane can read.
    fn everything(&self, switch: &Switch) -> Vec<String> {
        let mut all = Vec::new();
        for table in self.tables {
            all.push(format!("{:?}", switch.default_action(table)));
            for entry in switch.entries(table).unwrap() {
                all.push(format!("{entry:?}"));
                let of = DirectOf::Entry(&entry.matches, entry.priority);
                all.push(format!("{:?}", switch.direct_counter_read(table, of)));
                all.push(format!("{:?}", switch.direct_meter_read(table, of)));
                all.push(format!("{:?}", switch.direct_meter_colours(table, of)));
            }
            let of = DirectOf::Default;
            all.push(format!("{:?}", switch.direct_counter_read(table, of)));
            all.push(format!("{:?}", switch.direct_meter_colours(table, of)));
        }
        all.push(format!("{:?}", switch.members(self.selector)));
        all.push(format!("{:?}", switch.groups(self.selector)));
        let [exact, ..] = self.tables;
        let counts = switch.direct_counter_cells(exact).unwrap();
        all.extend(counts.map(|(_, count)| format!("{count:?}")));
        for at in 0..4 {
            all.push(format!("{:?}", switch.register_read(self.register, at)));
            all.push(format!("{:?}", switch.register_read(self.wide, at)));
        }
        for at in 0..CELLS {
            all.push(format!("{:?}", switch.counter_read(self.visits, at)));
            all.push(format!("{:?}", switch.meter_read(self.paces, at)));
            all.push(format!("{:?}", switch.meter_colours(self.paces, at)));
        }
        all.push(format!("{:?}", switch.value_set_read(p4_ir::ValueSetId(0))));
        all.push(format!("{:?}", switch.multicast_groups()));
        all
    }

    /// A change, which may be refused.
    fn draw(&self, random: &mut ChaCha8Rng) -> Change {
        let mut below = |most: u32| random.next_u32() % most;
        let at = below(4) as usize;
        let (table, priority) = (self.tables[at], if at == 3 { 1 + below(3) } else { 0 });
        let matches = match at {
            0 => vec![Match::exact(below(16)), Match::exact(below(16))],
            1 => vec![Match::exact(below(16))],
            2 => match below(9) {
                0 => vec![Match::Any],
                prefix => vec![Match::lpm(
                    below(256) >> (8 - prefix) << (8 - prefix),
                    prefix,
                )],
            },
            _ => {
                let (mask, low) = (below(16), below(16));
                vec![
                    Match::ternary(below(256) & mask, mask),
                    Match::range(low, low + below(4)),
                ]
            }
        };
        let action = self.actions[at][below(self.actions[at].len() as u32) as usize];
        let spec = ActionSpec {
            action,
            args: vec![(1 + below(8)).into()],
        };
        let action = match (at, below(2)) {
            (3, 0) => EntryAction::Member(1 + below(6)),
            (3, _) => EntryAction::Group(1 + below(4)),
            _ => EntryAction::Run(spec.clone()),
        };
        let entry = Entry {
            matches,
            priority,
            action,
        };
        let z = ActionSpec {
            action: self.actions[3][0],
            args: vec![below(256).into()],
        };
        let member = Member {
            id: 1 + below(6),
            action: z,
        };
        let group = Group {
            id: 1 + below(4),
            members: vec![(1 + below(3), 1), (4 + below(3), 1 + below(2))],
        };
        let of = Some(entry.clone()).filter(|_| below(8) > 0);
        let data = CounterData {
            packets: below(100).into(),
            octets: 0,
        };
        let config = MeterConfig {
            cir: 0.0,
            cburst: below(3).into(),
            pir: 0.0,
            pburst: below(6).into(),
            eburst: 0,
        };
        let config = Some(config).filter(|_| below(3) > 0);
        // At times there is no such cell.
        let cell = u64::from(below(CELLS as u32 + 1));
        let some = Some(cell).filter(|_| below(4) > 0);
        match below(48) {
            0..16 => Change::Insert(table, entry),
            16..20 => Change::Modify(table, entry),
            20..26 => Change::Delete(table, entry),
            26 => Change::Default(table, EntryAction::Run(spec)),
            27 => Change::ResetDefault(table),
            28 => Change::Count(of, data),
            29 => Change::Meter(of, config),
            30..32 => Change::InsertMember(member),
            32 => Change::ModifyMember(member),
            33 => Change::DeleteMember(member.id),
            34 => Change::InsertGroup(group),
            35 => Change::ModifyGroup(group),
            36 => Change::DeleteGroup(group.id),
            37 => Change::Register(below(4).into(), below(256) as u8),
            38 => Change::ValueSet(vec![vec![Match::exact(below(16))]]),
            39..41 => Change::Visits(some, data),
            41..43 => Change::Pace(some, config),
            43 => Change::ClearColours(cell),
            44 => Change::ClearDirectColours(of),
            45 => Change::Wide(below(4).into(), u128::from(below(u32::MAX)) << 48 | 5),
            _ => {
                let copies = 0..below(3) as u16;
                let replica = |rid| Replica { port: 2 + rid, rid };
                Change::Multicast(1 + below(8) as u16, copies.map(replica).collect())
            }
        }
    }
}

fn direct(of: &Option<Entry>) -> DirectOf<'_> {
    match of {
        Some(entry) => DirectOf::Entry(&entry.matches, entry.priority),
        None => DirectOf::Default,
    }
}

/// A cell, or all.
fn cells_of(at: Option<u64>) -> std::ops::Range<u64> {
    at.map_or(0..CELLS, |at| at..at + 1)
}

/// The fate of some packets in both switches, which must be the same.
fn compare(random: &mut ChaCha8Rng, one: &mut Switch, other: &mut Switch) {
    for _ in 0..4 {
        let [a, b, c, _] = random.next_u32().to_le_bytes();
        let octets = vec![
            a % 16,
            if c < 128 { b % 16 } else { b },
            c % 16,
            0,
            0,
            0,
            0,
            0,
        ];
        let mut sent = [Vec::new(), Vec::new()];
        for (switch, sent) in [&mut *one, &mut *other].into_iter().zip(&mut sent) {
            switch.handle_packet(Instant::ZERO, 0, Packet::new(octets.clone()));
            while let Some(transmit) = switch.poll_transmit(Instant::ZERO) {
                sent.push((transmit.port, transmit.packet.octets));
            }
        }
        assert_eq!(sent[0], sent[1], "{octets:?}");
    }
}

#[test]
fn packets_see_a_batch_whole_or_not_at_all() {
    assert!(p4_jit::install(), "this machine compiles");
    let program = support::compile_text("drafts.p4", PROGRAM, &[]);
    let program = program.unwrap_or_else(|why| panic!("{why}"));
    let pipeline = Pipeline::compile(&program).expect("a v1model program");
    for interpreted in [false, true] {
        let switch = || {
            let mut switch = Switch::with_pipeline(pipeline.clone(), SwitchConfig::default());
            switch.set_interpreted(interpreted);
            switch
        };
        compare_batches(switch(), switch());
    }
}

fn compare_batches(mut at_once: Switch, mut drafted: Switch) {
    let names = Names::new(&at_once);
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let (mut accepted, mut published) = (0, 0);
    for round in 0..50 {
        let changes: Vec<_> = (0..random.next_u32() % 80)
            .map(|_| names.draw(&mut random))
            .collect();
        drafted.begin_batch(&names.scope());
        while !drafted.copy_to_batch(16) {
            compare(&mut random, &mut at_once, &mut drafted);
        }
        let mut results = Vec::new();
        for slice in changes.chunks(8) {
            drafted.edit_draft(true);
            let done = slice.iter().cloned();
            results.extend(done.map(|change| names.carry_out(&mut drafted, change)));
            drafted.edit_draft(false);
            compare(&mut random, &mut at_once, &mut drafted);
        }
        if round % 4 == 3 {
            drafted.discard_batch();
        } else {
            let done = changes.into_iter();
            let expected: Vec<_> = done
                .map(|change| names.carry_out(&mut at_once, change))
                .collect();
            assert_eq!(results, expected);
            accepted += results.iter().filter(|result| result.is_ok()).count();
            published += 1;
            drafted.publish_batch();
            assert_eq!(names.everything(&drafted), names.everything(&at_once));
        }
        // Writes to cells wait, also while others change the same cells. At times the next batch comes first.
        for _ in 0..random.next_u32() % 16 {
            compare(&mut random, &mut at_once, &mut drafted);
            let change = names.draw(&mut random);
            let now = names.carry_out(&mut drafted, change.clone());
            assert_eq!(now, names.carry_out(&mut at_once, change));
            drafted.settle_batch(2);
            assert_eq!(names.everything(&drafted), names.everything(&at_once));
        }
        compare(&mut random, &mut at_once, &mut drafted);
    }
    assert!(drafted.settle_batch(usize::MAX));
    let [cells, expected] = [&drafted, &at_once].map(|switch| switch.counter_cells(names.visits));
    assert_eq!(cells, expected);
    // Most changes are executed, and find their entries.
    let entries = names
        .tables
        .map(|table| at_once.entries(table).unwrap().len());
    assert!(accepted > 10 * published, "{accepted} of {published}");
    assert!(entries.iter().all(|&count| count > 5), "{entries:?}");
}
