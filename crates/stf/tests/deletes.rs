//! Deleting an entry takes about as long as inserting it, for any number and order of entries.

mod support;

use engine::{ActionSpec, Entry, EntryAction, Match, Member, Switch, SwitchConfig};
use p4_ir::{ActionId, TableId};
use std::time::Instant;

const ENTRIES: u32 = 20_000;

/// A switch whose table `t` has the key `a` of this kind.
fn switch(kind: &str) -> Switch {
    switch_with(kind, "", "")
}

/// Likewise, with another declaration before the table and a property in it.
fn switch_with(kind: &str, declaration: &str, property: &str) -> Switch {
    let text = format!(
        "#include <core.p4>
#include <v1model.p4>
header h_t {{ bit<32> a; }} struct H {{ h_t h; }} struct M {{ }}
parser P(packet_in p, out H h, inout M m, inout standard_metadata_t s) {{
    state start {{ p.extract(h.h); transition accept; }}
}}
control V(inout H h, inout M m) {{ apply {{}} }}
control I(inout H h, inout M m, inout standard_metadata_t s) {{
    action send(bit<9> port) {{ s.egress_spec = port; }}
    {declaration}
    table t {{
        key = {{ h.h.a: {kind} @name(\"a\"); }}
        actions = {{ send; }}
        default_action = send(0);
        size = 100000;
        {property}
    }}
    apply {{ t.apply(); }}
}}
control E(inout H h, inout M m, inout standard_metadata_t s) {{ apply {{}} }}
control D(packet_out p, in H h) {{ apply {{}} }}
V1Switch(P(), V(), I(), E(), V(), D()) main;"
    );
    let program = support::compile_text("deletes.p4", &text, &[]);
    let program = program.unwrap_or_else(|why| panic!("{why}"));
    Switch::new(&program, SwitchConfig::default()).expect("a v1model program")
}

fn table_and_action(switch: &Switch) -> (TableId, ActionId) {
    let table = switch.table("t").expect("the program has it");
    let action = switch.action(table, "send");
    (table, action.expect("the table has it"))
}

fn run(action: ActionId) -> EntryAction {
    let args = vec![1u8.into()];
    EntryAction::Run(ActionSpec { action, args })
}

/// How many times as long as to insert entries with these matches it takes to delete them, first in
/// the order in which they came, then in the other one.
fn cost(switch: &mut Switch, priority: u32, set: impl Fn(u32) -> Match) -> f64 {
    let (table, action) = table_and_action(switch);
    let entry = |i: u32| Entry {
        matches: vec![set(i)],
        priority,
        action: run(action),
    };
    let mut passed = [0.0, 0.0];
    for backwards in [false, true] {
        let start = Instant::now();
        (0..ENTRIES).for_each(|i| switch.insert(table, entry(i)).unwrap());
        let inserted = Instant::now();
        for i in 0..ENTRIES {
            let i = if backwards { ENTRIES - 1 - i } else { i };
            let matches = entry(i).matches;
            switch.delete(table, &matches, priority).unwrap();
        }
        passed[0] += (inserted - start).as_secs_f64();
        passed[1] += inserted.elapsed().as_secs_f64();
        assert_eq!(switch.entries(table).unwrap(), []);
    }
    passed[1] / passed[0]
}

fn assert_linear(cost: f64) {
    assert!(
        cost < 5.0,
        "deletes take {cost:.1} times as long as inserts"
    );
}

#[test]
fn ternary_entries_of_one_priority() {
    let mask = 0x00ff_ffffu32;
    let set = |i| Match::ternary(i, mask);
    assert_linear(cost(&mut switch("ternary"), 1, set));
}

#[test]
fn ranges() {
    let set = |i| Match::range(i, i + 1);
    assert_linear(cost(&mut switch("range"), 1, set));
}

#[test]
fn a_prefix_of_a_length_of_its_own_among_many_others() {
    let mut switch = switch("lpm");
    for i in 0..ENTRIES {
        let set = [("a", Match::lpm(i << 8, 24))];
        switch
            .add("t", &set, 0, "send", &[("port", 1u8.into())])
            .unwrap();
    }
    let (table, action) = table_and_action(&switch);
    let entry = |i: u32| Entry {
        matches: vec![Match::lpm(i, 32)],
        priority: 0,
        action: run(action),
    };
    let start = Instant::now();
    (0..ENTRIES / 2).for_each(|i| switch.insert(table, entry(i)).unwrap());
    let together = start.elapsed();
    (0..ENTRIES / 2).for_each(|i| switch.delete(table, &entry(i).matches, 0).unwrap());
    let start = Instant::now();
    for i in 0..ENTRIES / 2 {
        switch.insert(table, entry(i)).unwrap();
        switch.delete(table, &entry(i).matches, 0).unwrap();
    }
    // Each of these is the only one of its length.
    let alone = start.elapsed();
    assert!(
        alone < together * 20,
        "{alone:?} one by one, {together:?} together"
    );
}

#[test]
fn members_that_entries_name() {
    let control = "action_profile(100000) members;";
    let mut switch = switch_with("exact", control, "implementation = members;");
    let profile = switch.object("members").expect("the program has it");
    let (table, action) = table_and_action(&switch);
    let args = vec![1u8.into()];
    let spec = ActionSpec { action, args };
    let entry = |i: u32| Entry {
        matches: vec![Match::exact(i)],
        priority: 0,
        action: EntryAction::Member(i),
    };
    let start = Instant::now();
    for id in 0..ENTRIES {
        let action = spec.clone();
        switch
            .member_insert(profile, Member { id, action })
            .unwrap();
        switch.insert(table, entry(id)).unwrap();
    }
    let inserted = Instant::now();
    let used = switch.member_delete(profile, 7).unwrap_err();
    assert!(used.to_string().contains("table `I.t`"), "{used}");
    for id in 0..ENTRIES {
        switch.delete(table, &entry(id).matches, 0).unwrap();
        switch.member_delete(profile, id).unwrap();
    }
    assert_linear(inserted.elapsed().as_secs_f64() / (inserted - start).as_secs_f64());
}
