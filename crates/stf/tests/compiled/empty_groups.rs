//! A group without members executes no action: `action_run` is `NoAction`, or none of the table's actions.

use super::large::{answer_at, pipeline};
use super::switch;
use engine::{Entry, EntryAction, Group, Match};
use p4_ir::TableId;
use units::Instant;

const TABLES: &str = "
    action set(bit<32> value) { h.h.a = value; }
    action_selector(HashAlgorithm.crc16, 64, 16) pick;
    table listed {
        key = { h.h.b: exact; h.h.c: selector; }
        actions = { set; NoAction; }
        implementation = pick;
    }
    action_selector(HashAlgorithm.crc16, 64, 16) pick_too;
    table unlisted {
        key = { h.h.b: exact; h.h.c: selector; }
        actions = { set; }
        implementation = pick_too;
    }
    apply {
        s.egress_spec = 1;
        switch (listed.apply().action_run) { set: { h.h.b = 1; } NoAction: { h.h.b = 2; } }
        switch (unlisted.apply().action_run) { set: { h.h.c = 1; } default: { h.h.c = 2; } }
    }";

#[test]
fn a_group_without_members_runs_no_action() {
    let pipeline = pipeline(TABLES);
    for interpreted in [true, false] {
        let mut switch = switch(&pipeline, interpreted);
        let entry = |key: u8| Entry {
            matches: vec![Match::exact(key)],
            priority: 0,
            action: EntryAction::Group(1),
        };
        for (id, selector, key) in [(0, "pick", 7), (1, "pick_too", 2)] {
            let selector = switch.object(selector).expect("a selector");
            let members = Vec::new();
            switch
                .group_insert(selector, Group { id: 1, members })
                .expect("a group");
            switch.insert(TableId(id), entry(key)).expect("an entry");
        }
        let answer = answer_at(&mut switch, Instant::ZERO, [5, 7, 9]);
        let expected: Vec<_> = [5_u32, 2, 2].iter().flat_map(|n| n.to_be_bytes()).collect();
        assert_eq!(answer, expected, "interpreted: {interpreted}");
    }
}
