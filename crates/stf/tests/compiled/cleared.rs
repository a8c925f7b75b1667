//! Variables that are read before they are written are zero, whatever the packets before had in them.

use super::state::state;
use super::{native, support, switch};
use engine::{Match, Packet, Switch};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use units::Instant;

/// What a packet meets depends on the bits of its first two octets. Nothing that it writes may be found by the next one.
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
struct headers { first_t first; pair_t pair; pair_t copy; pair_t[3] stack; run_t run; seen_t seen; }
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
        if (h.first.bits[9:9] == 1) { cells.write((bit<32>)h.first.index & 3, (bit<16>)h.first.value); }
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

fn answers(switch: &mut Switch, now: Instant, octets: &[u8]) -> Vec<Vec<u8>> {
    switch.handle_packet(now, 0, Packet::new(octets.to_vec()));
    let mut sent = Vec::new();
    while let Some(out) = switch.poll_transmit(now) {
        sent.push(out.packet.octets.clone());
        switch.recycle(out.packet);
    }
    while switch.poll_event().is_some() {}
    sent
}

#[test]
fn a_packet_finds_nothing_of_those_before() {
    let program = support::compile_text("cleared.p4", PROGRAM, &[]);
    let pipeline = native(&program.expect("the program compiles")).expect("it can be run");
    let mut pair = [false, true].map(|how| switch(&pipeline, how));
    for switch in &mut pair {
        let replica = |rid| engine::Replica { port: 1, rid };
        switch
            .set_multicast_group(1, vec![replica(5), replica(6)])
            .expect("a group");
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
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut sent = 0;
    for round in 0..100_000_u64 {
        let length = 4 + random.next_u64() % 24;
        let mut octets: Vec<_> = (0..length).map(|_| random.next_u64() as u8).collect();
        // Most packets are not dropped, and some keys are known.
        if round % 4 != 0 {
            octets[0] &= 0x77;
        }
        if let [_, _, _, _, _, _, high, low, ..] = &mut octets[..]
            && round % 2 == 0
        {
            (*high, *low) = (0, *low & 3);
        }
        let now = Instant::from_nanos(1000 * round);
        let [compiled, interpreted] = pair.each_mut().map(|switch| answers(switch, now, &octets));
        assert_eq!(compiled, interpreted, "{octets:02x?}");
        sent += compiled.len();
    }
    assert!(sent > 50_000, "only {sent} packets out");
    let [compiled, interpreted] = pair.each_ref().map(state);
    assert_eq!(compiled, interpreted);
}
