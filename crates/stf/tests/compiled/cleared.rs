//! Variables that are read before they are written are zero, independent of earlier packets.

use super::state::state;
use super::{native, support, switch};
use engine::{Match, Packet, Switch};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use units::Instant;

/// What a packet executes depends on the bits of its first two octets. Nothing that it writes may be found by the next one.
const PROGRAM: &str = "
#include <core.p4>
#include <v1model.p4>
header first_t { bit<16> bits; bit<8> index; bit<8> value; }
header pair_t { bit<16> x; bit<16> y; }
header run_t { varbit<64> octets; }
header seen_t {
    bit<16> local; bit<16> x; bit<16> element; bit<16> own; bit<16> between; bit<16> cell; bit<16> of_table; bit<16> replica;
    bit<8> valid; bit<8> elements;
}
struct headers { first_t first; pair_t pair; pair_t copy; run_t run; seen_t seen; pair_t[3] stack; }
struct metadata { bit<16> own; bit<16> between; bit<16> of_table; }
parser P(packet_in p, out headers h, inout metadata m, inout standard_metadata_t s) {
    state start {
        p.extract(h.first);
        transition select(h.first.bits[1:0]) {
            1: pair;
            2: elements;
            3: octets;
            default: accept;
        }
    }
    state pair { p.extract(h.pair); m.between = h.pair.y; transition accept; }
    state elements {
        p.extract(h.stack.next);
        transition select(h.stack.last.x[0:0]) { 1: elements; default: accept; }
    }
    state octets { p.extract(h.run, (bit<32>)(h.first.index & 7) * 8); transition accept; }
}
control V(inout headers h, inout metadata m) { apply {} }
control I(inout headers h, inout metadata m, inout standard_metadata_t s) {
    register<bit<16>>(4) cells;
    action set(bit<16> value) { m.of_table = value; }
    action add() { m.of_table = m.of_table + h.pair.x; }
    action valid() { h.copy.setValid(); }
    table t { key = { h.pair.y: exact; } actions = { set; add; valid; NoAction; } default_action = add(); }
    apply {
        bit<16> local;
        bit<16> cell;
        h.seen.setValid();
        if (h.first.bits[2:2] == 1) { local = 7; }
        if (h.first.bits[3:3] == 1) { m.own = m.own + 3; }
        if (h.first.bits[4:4] == 1) { h.pair.setValid(); }
        if (h.first.bits[5:5] == 1) { h.pair.x = h.pair.x + 9; }
        if (h.first.bits[6:6] == 1) { h.copy = h.pair; }
        if (h.first.bits[7:7] == 1) { h.stack[h.first.index & 3].y = h.stack[h.first.index & 3].x + 1; }
        if (h.first.bits[8:8] == 1) { t.apply(); }
        if (h.first.bits[9:9] == 1) { bit<16> written = (bit<16>)h.first.value; cells.write((bit<32>)h.first.index & 3, written); }
        if (h.first.bits[10:10] == 1) { h.pair.setInvalid(); }
        cells.read(cell, (bit<32>)h.first.index & 7);
        h.seen.local = local;
        h.seen.cell = cell;
        h.seen.x = h.pair.x + h.copy.y;
        h.seen.element = h.stack[1].x + h.stack[2].y;
        h.seen.of_table = m.of_table;
        if (h.pair.isValid()) { h.seen.valid = 1; h.seen.x = h.seen.x ^ h.pair.y; }
        if (h.first.bits[11:11] == 1) { mark_to_drop(s); return; }
        if (h.first.bits[12:12] == 1) { s.mcast_grp = 1; } else { s.egress_spec = 1; }
        if (h.first.bits[13:13] == 1) { exit; }
        m.between = m.between + 1;
    }
}
control E(inout headers h, inout metadata m, inout standard_metadata_t s) {
    apply {
        h.seen.own = m.own;
        h.seen.between = m.between;
        h.seen.replica = s.egress_rid;
        if (h.first.bits[14:14] == 1) { h.run.setValid(); }
        if (h.first.bits[15:15] == 1) { mark_to_drop(s); }
    }
}
control C(inout headers h, inout metadata m) { apply {} }
control D(packet_out p, in headers h) { apply { p.emit(h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;";

/// What the first program does not have: unions, subparsers, errors, externs that may leave their results as they are, fields of
/// invalid headers in a digest, values that are written in part.
const RARER: &str = "
#include <core.p4>
#include <v1model.p4>
header first_t { bit<16> bits; bit<8> index; bit<8> value; }
header a_t { bit<8> x; bit<8> y; }
header b_t { bit<96> w; }
header_union either_t { a_t a; b_t b; }
header options_t { bit<8> before; varbit<32> octets; bit<8> after; }
header seen_t {
    bit<96> wide; bit<96> union_wide; bit<16> hash; bit<16> sum; bit<16> cell; bit<8> union_x; bit<8> part; bit<8> hit; bit<8> run;
    bit<8> result; bit<8> colour; bit<8> element; bit<8> sub; bit<8> option; bit<8> why; bit<8> flags; bit<32> kind;
    bit<48> time; bit<16> group;
}
struct inner_t { bit<8> part; bit<96> wide; bool flag; }
struct headers {
    first_t first; either_t either; either_t other; a_t sub; a_t told; options_t options; seen_t seen; a_t[3] stack;
}
struct metadata { inner_t inner; inner_t twin; bit<16> sum; bit<16> hash; bit<2> colour; bit<8> drawn; bit<8> run; }
error { Seven }
parser Sub(packet_in p, out a_t a) {
    state start { p.extract(a); verify(a.x != 7, error.Seven); transition accept; }
}
parser P(packet_in p, out headers h, inout metadata m, inout standard_metadata_t s) {
    Sub() sub;
    state start {
        p.extract(h.first);
        transition select(h.first.bits[2:0]) {
            1: union_a;
            2: union_b;
            3: of_sub;
            4: options;
            5: look;
            6: loop;
            7: twice;
            default: accept;
        }
    }
    state union_a { p.extract(h.either.a); m.sum = h.either.a.x ++ h.either.a.y; transition accept; }
    state union_b { p.extract(h.other.b); transition accept; }
    state of_sub { sub.apply(p, h.sub); m.inner.part = h.sub.y; transition accept; }
    state options { p.extract(h.options, (bit<32>)(h.first.index & 5) * 8); transition accept; }
    state look {
        m.inner.wide = p.lookahead<bit<96>>();
        p.advance((bit<32>)(h.first.index & 15) * 8);
        transition select(m.inner.wide[7:0]) { 0: reject; default: accept; }
    }
    state loop {
        p.extract(h.stack.next);
        transition select(h.stack.last.x[0:0]) { 1: loop; default: accept; }
    }
    state told { p.extract(h.told); transition select(h.told.x[0:0]) { 1: options; default: accept; } }
    state twice { p.extract(h.sub); transition select(h.sub.x[1:0]) { 0: of_sub; 1: union_a; 2: told; default: reject; } }
}
control V(inout headers h, inout metadata m) {
    apply { verify_checksum(h.either.a.isValid(), { h.either.a.x, h.sub.y }, m.sum, HashAlgorithm.csum16); }
}
control I(inout headers h, inout metadata m, inout standard_metadata_t s) {
    register<bit<8>>(4) cells;
    meter(4, MeterType.packets) meters;
    action set(bit<8> part, bit<96> wide) { m.inner.part = part; m.inner.wide = wide; }
    action leave() { h.seen.run = 3; exit; }
    action maybe(out bit<8> result, in bit<8> value) { if (value[0:0] == 1) { result = value; } }
    table t {
        key = { h.either.a.x: exact; m.inner.wide: ternary; }
        actions = { set; leave; NoAction; }
        const entries = { (1, _): set(5, 6); (2, 6 &&& 6): leave(); (3, _): set(0x55, 0xffffffffffffffffffff); }
    }
    table u {
        key = { h.sub.y[1:0]: exact; }
        actions = { set; leave; NoAction; }
        const entries = { 1: set(7, 8); 2: NoAction(); }
        default_action = set(1, 2);
    }
    apply {
        bit<8> result;
        bit<8> part;
        bit<16> sum;
        h.seen.setValid();
        h.seen.time = s.egress_global_timestamp + (bit<48>)s.enq_timestamp + (bit<48>)s.deq_timedelta;
        h.seen.kind = s.instance_type;
        if (h.first.bits[3:3] == 1) { m.inner.wide[70:60] = (bit<11>)h.first.value; m.inner.part[3:1] = h.first.value[2:0]; }
        if (h.first.bits[4:4] == 1) { if (t.apply().hit) { h.seen.hit = 1; } else { h.seen.hit = m.run; } }
        if (h.first.bits[5:5] == 1) {
            switch (u.apply().action_run) { set: { m.run = 1; m.inner.flag = true; } NoAction: { m.run = m.run + 2; } }
        }
        if (h.first.bits[6:6] == 1) { h.stack.push_front(1); if (h.first.value[1:1] == 1) { h.stack[0].setValid(); } }
        if (h.first.bits[7:7] == 1) { h.stack.pop_front(1); }
        if (h.first.bits[8:8] == 1) { cells.read(h.stack[h.first.index & 3].x, (bit<32>)h.first.value & 7); }
        if (h.first.bits[9:9] == 1) { hash(m.hash, HashAlgorithm.crc16, 16w0, { h.either.a.x, h.sub.y, h.options.octets }, 32w1024); }
        if (h.first.bits[10:10] == 1) { m.twin = m.inner; h.other.a.setValid(); h.other.a.y = 3; }
        if (h.first.bits[11:11] == 1) { maybe(result, h.first.value); maybe(part, h.first.index); }
        if (h.first.bits[12:12] == 1) { random(m.drawn, h.first.value, 100); meters.execute_meter((bit<32>)h.first.index & 7, m.colour); }
        if (h.first.bits[13:13] == 1) { h.either.b.setValid(); h.either.b.w = m.twin.wide; s.priority = 0; }
        if (h.first.bits[14:14] == 1) {
            bit<8> written = h.first.value;
            cells.write((bit<32>)h.first.index & 3, written);
            h.options.setInvalid();
        }
        if (h.first.bits[15:15] == 1) { digest(1, { h.sub.x, m.inner.part, h.told.y }); digest(2, h.told); }
        cells.read(h.seen.element, (bit<32>)h.first.index & 7);
        h.seen.result = result;
        h.seen.part = part;
        h.seen.sum = sum;
        h.seen.cell = h.stack[h.first.index & 3].y ++ h.stack[1].x;
        h.seen.group = s.mcast_grp + (bit<16>)s.egress_rid;
        s.egress_spec = 1;
        if (h.first.value == 9) { s.mcast_grp = 1; }
        if (h.first.value == 8) { return; }
        if (h.first.value == 10) { h.sub.setInvalid(); exit; }
        h.seen.sub = h.sub.y;
    }
}
control E(inout headers h, inout metadata m, inout standard_metadata_t s) {
    apply {
        h.seen.wide = m.twin.wide + m.inner.wide;
        h.seen.union_wide = h.other.b.w + h.either.b.w;
        h.seen.union_x = h.other.a.y + h.either.a.x;
        h.seen.run = h.seen.run + m.run + m.inner.part;
        h.seen.hash = m.hash + m.sum;
        h.seen.colour = m.drawn ^ (bit<8>)m.colour;
        h.seen.option = h.options.before + h.options.after;
        if (s.parser_error == error.Seven) { h.seen.why = 1; }
        if (s.parser_error == error.PacketTooShort) { h.seen.why = 2; }
        if (s.checksum_error == 1) { h.seen.flags = 1; }
        if (m.twin.flag || m.inner.flag) { h.seen.flags = h.seen.flags + 2; }
        h.seen.kind = h.seen.kind + s.instance_type;
        h.seen.group = h.seen.group ^ s.mcast_grp;
        if (h.first.index == 200) { h.options.setValid(); }
        if (h.first.index == 201) { h.sub.setValid(); h.sub.x = 1; }
        if (h.first.index == 202) { h.stack[2].setValid(); }
    }
}
control C(inout headers h, inout metadata m) {
    apply { update_checksum(h.seen.isValid(), { h.either.a.x, h.sub.x, h.stack[0].y, m.run }, h.seen.sum, HashAlgorithm.csum16); }
}
control D(packet_out p, in headers h) { apply { p.emit(h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;";

/// What a packet leads to: packets out, then events.
fn answers(switch: &mut Switch, now: Instant, octets: &[u8]) -> (Vec<Vec<u8>>, Vec<String>) {
    switch.handle_packet(now, 0, Packet::new(octets.to_vec()));
    let mut sent = Vec::new();
    while let Some(out) = switch.poll_transmit(now) {
        sent.push(out.packet.octets.to_vec());
        switch.recycle(out.packet);
    }
    let events = std::iter::from_fn(|| switch.poll_event());
    (sent, events.map(|event| format!("{event:?}")).collect())
}

/// A switch whose code is compiled, and one that interprets it. Group 1 has two members.
fn switches(text: &str) -> [Switch; 2] {
    let program = support::compile_text("cleared.p4", text, &[]);
    let pipeline = native(&program.expect("the program compiles")).expect("it can be run");
    [false, true].map(|interpreted| {
        let mut switch = switch(&pipeline, interpreted);
        let replica = |rid| engine::Replica { port: 1, rid };
        switch
            .set_multicast_group(1, vec![replica(5), replica(6)])
            .expect("a group");
        switch
    })
}

/// Sends packets at random through both, `mend` having changed their octets; all must lead to the same.
fn compare(mut pair: [Switch; 2], mut mend: impl FnMut(u64, &mut [u8])) {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let (mut sent, mut events) = (0, 0);
    for round in 0..100_000_u64 {
        let length = 4 + random.next_u64() % 24;
        let mut octets: Vec<_> = (0..length).map(|_| random.next_u64() as u8).collect();
        mend(round, &mut octets);
        let now = Instant::from_nanos(1000 * round);
        let [compiled, interpreted] = pair.each_mut().map(|switch| answers(switch, now, &octets));
        assert_eq!(compiled, interpreted, "{octets:02x?}");
        sent += compiled.0.len();
        events += compiled.1.len();
    }
    assert!(sent > 50_000, "only {sent} packets out");
    assert!(events > 10_000, "only {events} events");
    let [compiled, interpreted] = pair.each_ref().map(state);
    assert_eq!(compiled, interpreted);
}

#[test]
fn a_packet_finds_nothing_of_those_before() {
    let mut pair = switches(PROGRAM);
    for switch in &mut pair {
        let entries: [(u8, &str, &[u16]); 3] =
            [(0, "valid", &[]), (1, "set", &[77]), (2, "NoAction", &[])];
        for (key, action, values) in entries {
            let values: Vec<_> = values
                .iter()
                .map(|&value| ("value", value.into()))
                .collect();
            switch
                .add("t", &[("y", Match::exact(key))], 0, action, &values)
                .unwrap_or_else(|why| panic!("{why}"));
        }
    }
    compare(pair, |round, octets| {
        // Most packets are not dropped, and some keys are known.
        if round % 4 != 0 {
            octets[0] &= 0x77;
        }
        if let [_, _, _, _, _, _, high, low, ..] = octets
            && round % 2 == 0
        {
            (*high, *low) = (0, *low & 3);
        }
    });
}

#[test]
fn what_rarer_statements_leave_is_not_found() {
    compare(switches(RARER), |round, octets| {
        if round % 2 == 0 {
            octets[3] &= 15;
        }
        if round % 5 == 0 {
            octets[2] = 200 + octets[2] % 3;
        }
        if let [_, _, _, _, first, ..] = octets
            && round % 3 == 0
        {
            *first &= 7;
        }
    });
}

/// Reads a cell into an element found at run time.
const ELEMENT: &str = "
#include <core.p4>
#include <v1model.p4>
header first_t { bit<8> index; bit<8> cell; }
header element_t { bit<8> x; }
struct headers { first_t first; element_t[2] stack; }
struct metadata {}
parser P(packet_in p, out headers h, inout metadata m, inout standard_metadata_t s) {
    state start { p.extract(h.first); p.extract(h.stack.next); p.extract(h.stack.next); transition accept; }
}
control V(inout headers h, inout metadata m) { apply {} }
control I(inout headers h, inout metadata m, inout standard_metadata_t s) {
    register<bit<8>>(4) cells;
    apply {
        cells.write(0, 0x77);
        cells.read(h.stack[h.first.index].x, (bit<32>)h.first.cell);
        s.egress_spec = 1;
    }
}
control E(inout headers h, inout metadata m, inout standard_metadata_t s) { apply {} }
control C(inout headers h, inout metadata m) { apply {} }
control D(packet_out p, in headers h) { apply { p.emit(h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;";

#[test]
fn an_element_keeps_its_value_where_there_is_no_cell() {
    for mut switch in switches(ELEMENT) {
        let packets = [
            ([0, 0, 1, 2], [0, 0, 0x77, 2]),
            ([1, 9, 3, 4], [1, 9, 3, 4]),
            ([9, 0, 5, 6], [9, 0, 5, 6]),
        ];
        for (octets, expected) in packets {
            let (sent, _) = answers(&mut switch, Instant::ZERO, &octets);
            assert_eq!(sent, [expected]);
        }
    }
}
