#include "included/bare.p4"

// Applied twice, put in twice; its value set is one.
parser One(packet_in packet, out pair_h pair, in bit<8> seen)(bit<8> other) {
    value_set<bit<8>>(4) known;
    bit<8> found;
    state start {
        packet.extract(pair);
        found = pair.a + seen;
        transition select(found) { known: accept; 7: accept; other: again; default: reject; }
    }
    state again { pair.b = found; transition accept; }
}
parser Take(packet_in packet, out headers_t hdr, inout intrinsic_t intrinsic) {
    One(9) one;
    state start { one.apply(packet, hdr.pair, 1); transition second; }
    state second { one.apply(packet, hdr.other, hdr.pair.b); transition accept; }
}
control Nothing(inout headers_t hdr, inout intrinsic_t intrinsic) { apply { } }
Device(Take(), Nothing(), PutPair()) main;
