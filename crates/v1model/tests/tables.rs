//! Tables: every match kind against a naive scan, and the control plane's errors and counts.

mod support;

use num_bigint::BigUint;
use p4_ir::{
    ActionCall, ActionId, BinaryOp, CtorArg, Expr, ExprKind, KeyMatch, MatchKind, Scalar,
    SourceLoc, TableId, TypeDef, TypeKind,
};
use proptest::prelude::*;
use support::*;
use v1model::{
    ActionSpec, ControlError, CounterData, DirectOf, Entry, EntryAction, Group, Match, Member,
};

/// A table on a, b, c with these match kinds; the action sets b to its value, the miss to 0.
fn build(kinds: [MatchKind; 3]) -> Build {
    let mut build = Build::default();
    let set_b = build.action("set", |value| vec![set(bits(B, 16), load(&value))]);
    let keys = [bits(A, 16), bits(B, 16), bits(C, 8)];
    let keys: Vec<_> = keys.into_iter().zip(kinds).collect();
    let table = build.table(&keys, vec![set_b]);
    build.ingress(vec![apply(table)])
}

fn entry(matches: [Match; 3], priority: u32, value: u16) -> Entry {
    let action = ActionSpec {
        action: ActionId(0),
        args: vec![value.into()],
    };
    Entry {
        matches: matches.to_vec(),
        priority,
        action: EntryAction::Run(action),
    }
}

const T: TableId = TableId(0);

fn holds(set: &Match, value: u64, width: u32) -> bool {
    let value = BigUint::from(value);
    match set {
        Match::Any => true,
        Match::Exact(want) => value == *want,
        Match::Lpm {
            value: want,
            prefix,
        } => &value >> (width - prefix) == want >> (width - prefix),
        Match::Ternary { value: want, mask } => value & mask == *want,
        Match::Range { low, high } => *low <= value && value <= *high,
    }
}

/// A set of one key; few different bits, so that sets overlap.
fn a_match(kind: MatchKind, width: u32) -> BoxedStrategy<Match> {
    let ones = (1u64 << width) - 1;
    let value = prop_oneof![
        Just(0),
        Just(ones),
        any::<u64>().prop_map(move |v| v & ones & 0x8183)
    ];
    let pair = (value.clone(), value.clone());
    match kind {
        MatchKind::Exact => value.prop_map(Match::exact).boxed(),
        MatchKind::Lpm => (value, 0..=width)
            .prop_map(move |(v, prefix)| {
                Match::lpm(v >> (width - prefix) << (width - prefix), prefix)
            })
            .boxed(),
        MatchKind::Range => pair
            .prop_map(|(a, b)| Match::range(a.min(b), a.max(b)))
            .boxed(),
        MatchKind::Optional => prop_oneof![Just(Match::Any), value.prop_map(Match::exact)].boxed(),
        _ => pair
            .prop_map(|(v, mask)| Match::ternary(v & mask, mask))
            .boxed(),
    }
}

fn kinds() -> impl Strategy<Value = [MatchKind; 3]> {
    use MatchKind::*;
    prop_oneof![
        Just([Exact, Exact, Exact]),
        Just([Lpm, Exact, Exact]),
        Just([Exact, Lpm, Exact]),
        Just([Exact, Exact, Lpm]),
        Just([Ternary, Ternary, Ternary]),
        Just([Range, Exact, Optional]),
        Just([Ternary, Lpm, Range]),
    ]
}

/// A table's match kinds, entries, packets, and which entries are taken out again.
type Case = (
    [MatchKind; 3],
    Vec<[Match; 3]>,
    Vec<(u16, u16, u8)>,
    Vec<bool>,
);

fn a_case() -> impl Strategy<Value = Case> {
    kinds().prop_flat_map(|kinds| {
        let [a, b, c] = kinds.clone();
        let sets = (a_match(a, 16), a_match(b, 16), a_match(c, 8));
        let sets = prop::collection::vec(sets.prop_map(|(a, b, c)| [a, b, c]), 1..40);
        let few = |v: u16| v & 0x8183;
        let packet = (
            any::<u16>().prop_map(few),
            any::<u16>().prop_map(few),
            any::<u8>(),
        )
            .prop_map(|(a, b, c)| (a, b, c & 0x83));
        let packets = prop::collection::vec(packet, 1..40);
        (
            Just(kinds),
            sets,
            packets,
            prop::collection::vec(any::<bool>(), 40),
        )
    })
}

proptest! {
    /// Entries are put in, some are taken out; each packet hits what a scan of all says.
    #[test]
    fn lookups_agree_with_a_scan((kinds, sets, packets, deleted) in a_case()) {
        let by_priority = kinds.iter().any(|kind| !matches!(kind, MatchKind::Exact | MatchKind::Lpm));
        let mut switch = build(kinds).switch();
        let mut kept = Vec::new();
        for (i, sets) in sets.into_iter().enumerate() {
            // Few priorities, so that some are equal.
            let priority = if by_priority { 1 + i as u32 * 7 % 5 } else { 0 };
            let value = 1000 + i as u16;
            if switch.insert(T, entry(sets.clone(), priority, value)).is_ok() {
                kept.push((sets, priority, value));
            }
        }
        let mut i = 0;
        kept.retain(|(sets, priority, _)| {
            i += 1;
            if deleted[i - 1] {
                switch.delete(T, sets, *priority).unwrap();
            }
            !deleted[i - 1]
        });
        prop_assert_eq!(switch.entries(T).unwrap().len(), kept.len());
        for (a, b, c) in packets {
            let hits = kept.iter().enumerate().filter(|(_, (sets, _, _))| {
                holds(&sets[0], a.into(), 16) && holds(&sets[1], b.into(), 16) && holds(&sets[2], c.into(), 8)
            });
            let prefix = |sets: &[Match; 3]| sets.iter().map(|set| match set {
                Match::Lpm { prefix, .. } => *prefix,
                _ => 0,
            }).sum::<u32>();
            let best = hits.max_by_key(|(i, (sets, priority, _))| match by_priority {
                true => (*priority, std::cmp::Reverse(*i)),
                false => (prefix(sets), std::cmp::Reverse(*i)),
            });
            let expected = best.map_or(0, |(_, (_, _, value))| *value);
            let sent = send(&mut switch, 0, packet(a, b, c, &[]));
            prop_assert_eq!(fields(&sent).1, expected);
        }
    }
}

#[test]
fn wide_keys_are_matched_whole() {
    let mut build = Build::default();
    let wide = build.variable(200);
    let set_b = build.action("set", |value| vec![set(bits(B, 16), load(&value))]);
    let table = build.table(&[(wide.clone(), MatchKind::Lpm)], vec![set_b]);
    let a = Expr {
        kind: ExprKind::Cast(Box::new(load(&bits(A, 16)))),
        ty: Scalar::Bit(200),
    };
    let shifted = binary(BinaryOp::Shl, a, num(184, 8));
    let build = build.ingress(vec![set(wide, shifted), apply(table)]);
    let mut switch = build.switch();
    let lpm = |value: u16, prefix| Match::lpm(BigUint::from(value) << 184u32, prefix);
    for (set, value) in [
        (lpm(0x1200, 8), 8),
        (lpm(0x1230, 12), 12),
        (lpm(0x1234, 200), 200),
    ] {
        let action = ActionSpec {
            action: ActionId(0),
            args: vec![(value as u16).into()],
        };
        let entry = Entry {
            matches: vec![set],
            priority: 0,
            action: EntryAction::Run(action),
        };
        switch.insert(table, entry).unwrap();
    }
    let mut hit = |a| fields(&send(&mut switch, 0, packet(a, 0, 0, &[]))).1;
    assert_eq!(
        [hit(0x1234), hit(0x1235), hit(0x1244), hit(0x2234)],
        [200, 12, 8, 0]
    );
}

#[test]
fn a_miss_runs_the_default() {
    use MatchKind::Exact;
    let mut switch = build([Exact, Exact, Exact]).switch();
    switch
        .set_default_by_name("t0", "set", &[("value", 77u8.into())])
        .unwrap();
    assert_eq!(fields(&send(&mut switch, 0, packet(1, 2, 3, &[]))).1, 77);
    switch.reset_default(T).unwrap();
    assert_eq!(fields(&send(&mut switch, 0, packet(1, 2, 3, &[]))).1, 0);
}

#[test]
fn entries_of_the_source_win_in_their_order_and_stay() {
    use MatchKind::*;
    let mut build = build([Ternary, Exact, Exact]);
    let source = |a: KeyMatch, value: u16| p4_ir::Entry {
        matches: vec![a, KeyMatch::Value(num(0, 16)), KeyMatch::Value(num(0, 8))],
        call: ActionCall {
            action: 0,
            args: vec![value.into()],
        },
        priority: None,
        is_const: false,
        annotations: Vec::new(),
        loc: SourceLoc::default(),
    };
    let mask = KeyMatch::Mask(num(0x1234, 16), num(0xff00, 16));
    build.program.tables[0].entries = vec![source(mask, 1), source(KeyMatch::Any, 2)];
    build.program.tables[0].const_entries = true;
    let mut switch = build.switch();
    let mut hit = |a| fields(&send(&mut switch, 0, packet(a, 0, 0, &[]))).1;
    assert_eq!([hit(0x1299), hit(0x5555)], [1, 2]);
    let entry = switch.entries(T).unwrap().remove(0);
    let error = switch
        .delete(T, &entry.matches, entry.priority)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "table `ingress.t0`: its entries cannot be changed: it is const"
    );
}

#[test]
fn direct_counters_count_hits() {
    use MatchKind::Exact;
    let mut build = build([Exact, Exact, Exact]);
    let kind = CtorArg::Member("CounterType".into(), "packets_and_bytes".into());
    let counter = build.object("direct_counter", Vec::new(), vec![kind]);
    build.program.tables[0].direct = vec![counter];
    let mut switch = build.switch();
    let key = [Match::exact(1u8), Match::exact(2u8), Match::exact(3u8)];
    switch.insert(T, entry(key.clone(), 0, 9)).unwrap();
    send(&mut switch, 0, packet(1, 2, 3, b"12345"));
    send(&mut switch, 0, packet(1, 2, 3, &[]));
    send(&mut switch, 0, packet(9, 2, 3, &[]));
    let count = |packets, octets| CounterData { packets, octets };
    let counted = |of| switch.direct_counter_read(T, of).unwrap();
    assert_eq!(counted(DirectOf::Entry(&key, 0)), count(2, 15));
    assert_eq!(counted(DirectOf::Default), count(1, 5), "a miss");
}

/// A selector by the hash `identity` of c over three members, one of double weight: c = 0, 1, 2, 3 take
/// members 1, 2, 2, 3, and 4 begins again.
#[test]
fn groups_choose_members_by_hash_and_weight() {
    use MatchKind::{Exact, Selector};
    let mut build = Build::default();
    let set_b = build.action("set", |value| vec![set(bits(B, 16), load(&value))]);
    let table = build.table(&[(bits(A, 16), Exact), (bits(C, 8), Selector)], vec![set_b]);
    build.program.types.push(TypeDef {
        name: "HashAlgorithm".into(),
        kind: TypeKind::Enum(vec!["identity".into()]),
        annotations: Vec::new(),
        loc: SourceLoc::default(),
    });
    let args = [0, 16, 16].map(|n| CtorArg::Int(n.into()));
    let selector = build.object("action_selector", Vec::new(), args.into());
    build.program.tables[0].implementation = Some(selector);
    let mut switch = build.ingress(vec![apply(table)]).switch();
    for id in 1..=3u32 {
        let action = ActionSpec {
            action: ActionId(0),
            args: vec![(id * 11).into()],
        };
        switch
            .member_insert(selector, Member { id, action })
            .unwrap();
    }
    let members = vec![(3, 1), (1, 1), (2, 2)];
    switch
        .group_insert(selector, Group { id: 5, members })
        .unwrap();
    let matches = vec![Match::exact(1u8)];
    let add = Entry {
        matches,
        priority: 0,
        action: EntryAction::Group(5),
    };
    switch.insert(T, add.clone()).unwrap();
    let mut hit = |c| fields(&send(&mut switch, 0, packet(1, 0, c, &[]))).1;
    assert_eq!([0, 1, 2, 3, 4].map(&mut hit), [11, 22, 22, 33, 11]);

    let by_member = Entry {
        action: EntryAction::Member(3),
        ..add
    };
    switch.modify(T, by_member).unwrap();
    assert_eq!(fields(&send(&mut switch, 0, packet(1, 0, 0, &[]))).1, 33);
    let error = switch.member_delete(selector, 2).unwrap_err().to_string();
    assert_eq!(
        error,
        "action_selector `ingress.action_selector`: member 2 is still used by group 5"
    );
    let error = switch.member_delete(selector, 3).unwrap_err().to_string();
    assert_eq!(
        error,
        "action_selector `ingress.action_selector`: member 3 is still used by group 5"
    );
    switch.group_delete(selector, 5).unwrap();
    let error = switch.member_delete(selector, 3).unwrap_err().to_string();
    assert!(
        error.ends_with("member 3 is still used by table `ingress.t0`"),
        "{error}"
    );
    switch.member_delete(selector, 2).unwrap();
}

#[test]
fn refusals_say_what_is_valid() {
    use MatchKind::*;
    let mut build = build([Lpm, Exact, Exact]);
    build.program.tables[0].size = Some(1);
    let mut switch = build.switch();
    let key = |a: Match| [a, Match::exact(2u8), Match::exact(3u8)];
    let mut insert = |entry| switch.insert(T, entry).unwrap_err().to_string();
    assert_eq!(
        insert(entry(key(Match::lpm(0x1234u16, 8)), 0, 0)),
        "table `ingress.t0`, key `hdr.h.a`: expected zero where the mask is: 0x1200, found 0x1234"
    );
    assert_eq!(
        insert(entry(key(Match::exact(0x12345u32)), 0, 0)),
        "table `ingress.t0`, key `hdr.h.a`: expected a value of 16 bits, found 0x12345"
    );
    assert_eq!(
        insert(entry(key(Match::range(1u8, 2u8)), 0, 0)),
        "table `ingress.t0`, key `hdr.h.a`: expected a prefix (lpm), a value, or any, found (0x1..0x2)"
    );
    assert_eq!(
        insert(entry(key(Match::Any), 3, 0)),
        "table `ingress.t0`: expected priority 0, as all keys are exact or lpm, found 3"
    );
    let mut wrong = entry(key(Match::Any), 0, 0);
    wrong.action = EntryAction::Member(1);
    assert_eq!(
        insert(wrong),
        "table `ingress.t0`: expected an action, as it has no action profile, found a member or a group"
    );
    switch.insert(T, entry(key(Match::Any), 0, 0)).unwrap();
    let error = switch
        .insert(T, entry(key(Match::lpm(0u8, 0)), 0, 0))
        .unwrap_err();
    assert_eq!(
        error,
        ControlError::Full {
            at: "table `ingress.t0`".into(),
            size: 1
        }
    );
    // The entry that was accepted is still there.
    assert_eq!(switch.entries(T).unwrap().len(), 1);

    let error = switch
        .add("t0", &[("hdr.h.d", Match::Any)], 0, "set", &[])
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "no key of this table is named `hdr.h.d`; did you mean `hdr.h.a`? \
         (valid: hdr.h.a, hdr.h.b, hdr.h.c)"
    );
    let error = switch.set_default_by_name("t0", "set", &[]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "action `ingress.set`: expected a value for each of: value, found none for `value`"
    );
    let error = switch.table("ingres.t0").unwrap_err();
    assert!(
        error.to_string().contains("did you mean `ingress.t0`?"),
        "{error}"
    );
}
