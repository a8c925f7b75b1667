// Arrays of types other than headers: of numbers, bools, enums, structs and arrays; as locals, fields, constants, parameters.
#include <core.p4>
#include <v1model.p4>

const bit<8>[4] POWERS = { 1, 2, 4, 8 };
const bit<8> SECOND = POWERS[1];

enum colour_t { red, green, blue }

struct pair_t {
    bit<8> low;
    bit<8> high;
}

header h_t {
    bit<8> kind;
    bit<8> i;
    bit<8> j;
    bit<8> value;
    bit<8>[4] octets;
}

// What the parser reads other than octets: fields that are not whole octets, and a struct's.
header mixed_t {
    bit<4>[3] nibbles;
    bit<4> rest;
    pair_t[2] pairs;
}

struct headers_t {
    h_t h;
    mixed_t mixed;
}

struct holds_t {
    h_t h;
    bit<8> n;
}

struct pass_t {
    @field_list(1) bit<8> kept;
    bit<8> lost;
}

struct metadata_t {
    bit<8>[4] octets;
    pass_t[2] passes;
    @field_list(1) bit<8>[2] whole;
    pair_t[2] pairs;
    bit<8>[2][3] grid;
}

parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.h);
        meta.octets = hdr.h.octets;
        transition select(hdr.h.kind) {
            10: mixed;
            default: accept;
        }
    }
    state mixed {
        packet.extract(hdr.mixed);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

bit<8> sum(in bit<8>[4] of) {
    bit<8> all = 0;
    for (bit<8> x in of) {
        all = all + x;
    }
    return all;
}

bit<8>[4] reversed(in bit<8>[4] of) {
    return { of[3], of[2], of[1], of[0] };
}

T last<T>(in T[4] of) {
    return of[of.size - 1];
}

void set(inout bit<8>[4] of, in bit<8> at, in bit<8> value) {
    of[at] = value;
}

control Inner(inout pair_t[2] pairs, out bit<8>[4] result) {
    apply {
        result = { pairs[0].low, pairs[0].high, pairs[1].low, pairs[1].high };
        pairs[1] = pairs[0];
    }
}

control Arrays(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    Inner() inner;

    action fill(inout bit<8>[4] octets, bit<8> value) {
        octets = { value, value, ... };
    }
    table filled {
        key = { hdr.h.octets[0]: exact; }
        actions = { fill(hdr.h.octets); }
        const default_action = fill(hdr.h.octets, 9);
    }

    apply {
        sm.egress_spec = 1;
        switch (hdr.h.kind) {
            0: {
                // Reads and writes by an index that the packet has.
                bit<8>[4] local = hdr.h.octets;
                hdr.h.value = local[hdr.h.i];
                local[hdr.h.j] = 0xaa;
                hdr.h.octets = local;
            }
            1: {
                // Structs: whole elements and their fields, within range or not.
                pair_t[2] pairs = { { 1, 2 }, { 3, 4 } };
                pairs[hdr.h.i].high = 0x55;
                pairs[hdr.h.j] = { 6, pairs[hdr.h.i].low };
                meta.pairs = pairs;
                inner.apply(meta.pairs, hdr.h.octets);
                hdr.h.value = meta.pairs[1].high;
            }
            2: {
                // Arrays of arrays: two of three octets each way.
                meta.grid = { { 1, 2 }, { 3, 4 }, { 5, 6 } };
                meta.grid[hdr.h.i][hdr.h.j] = 0x77;
                hdr.h.value = meta.grid[hdr.h.j][hdr.h.i];
                bit<8>[2] row = meta.grid[hdr.h.i];
                hdr.h.octets = { row[0], row[1], meta.grid[2][0], meta.grid[2][1] };
            }
            3: {
                // Whole arrays compared.
                bit<8> bits = 0;
                if (hdr.h.octets == POWERS) { bits = bits | 1; }
                if (meta.octets != { 1, 2, 3, 4 }) { bits = bits | 2; }
                pair_t[2] a = { { hdr.h.i, 0 }, { 0, 0 } };
                pair_t[2] b = { { hdr.h.j, 0 }, { 0, 0 } };
                if (a == b) { bits = bits | 4; }
                hdr.h.value = bits;
            }
            4: {
                // Functions: by value, by reference, generic, with an array as result.
                hdr.h.value = sum(hdr.h.octets) + last(hdr.h.octets);
                set(hdr.h.octets, hdr.h.i, hdr.h.j);
                hdr.h.octets = reversed(hdr.h.octets);
            }
            5: {
                // Constants.
                hdr.h.value = POWERS[hdr.h.i];
                hdr.h.octets[0] = SECOND;
                hdr.h.octets[3] = (bit<8>) POWERS.size;
            }
            6: {
                // bool, and an enum.
                bool[3] flags = { false, hdr.h.i == 1, true };
                colour_t[2] colours = { colour_t.blue, colour_t.green };
                hdr.h.value = flags[hdr.h.j] && colours[hdr.h.i] == colour_t.green ? 8w1 : 0;
            }
            7: {
                filled.apply();
            }
            8: {
                // An array is assigned from itself in another order; the right side is read before.
                hdr.h.octets = { hdr.h.octets[1], hdr.h.octets[0], hdr.h.octets[3], hdr.h.octets[hdr.h.i] };
                hdr.h.octets[hdr.h.i][3:0] = 0xf;
            }
            9: {
                // Copies in and out of parameters: an index counts as it was at the call.
                set(meta.octets, 1, 0x99);
                hdr.h.octets = meta.octets;
            }
            10: {
                hdr.h.value = (bit<8>) hdr.mixed.nibbles[hdr.h.i];
                hdr.mixed.nibbles[hdr.h.j] = 0xe;
                hdr.mixed.pairs = { hdr.mixed.pairs[1], hdr.mixed.pairs[0] };
            }
            11: {
                // Field lists: marks on an array, and on fields of its elements.
                if (sm.instance_type == 0) {
                    meta.passes = { { 1, 2 }, { 3, 4 } };
                    meta.whole = { 5, 6 };
                    resubmit_preserving_field_list(1);
                } else {
                    hdr.h.octets = { meta.passes[0].kept, meta.passes[1].kept, meta.passes[1].lost, meta.whole[1] };
                }
            }
            12: {
                // An array among hashed values is its elements in order.
                bit<16> whole;
                bit<16> parts;
                bit<8>[4] a = hdr.h.octets;
                hash(whole, HashAlgorithm.crc16, 16w0, { a, hdr.h.i }, 32w65536);
                hash(parts, HashAlgorithm.crc16, 16w0, { a[0], a[1], a[2], a[3], hdr.h.i }, 32w65536);
                hdr.h.value = whole == parts ? 8w1 : 0;
            }
            13: {
                // Stacks in an array, and structs with headers in one: each keeps its validity.
                h_t[2][2] stacks;
                stacks[hdr.h.i][0] = hdr.h;
                stacks[1].push_front(1);
                holds_t[2] holds = { { hdr.h, 3 }, ... };
                bit<8> bits = 0;
                if (stacks[0][0].isValid()) { bits = bits | 1; }
                if (stacks[1][0].isValid()) { bits = bits | 2; }
                if (stacks[1][1].isValid()) { bits = bits | 4; }
                if (holds[0].h.isValid()) { bits = bits | 8; }
                if (holds[1].h.isValid()) { bits = bits | 16; }
                hdr.h.value = bits;
            }
        }
    }
}

control Leave(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {}
}

control Compute(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(Parse(), Verify(), Arrays(), Leave(), Compute(), Deparse()) main;
