#include "included/bare.p4"
enum bit<8> Class { LOW = 1, HIGH = 7 }
const bit<9> DROP = 511;

control Route(inout headers_t hdr, inout intrinsic_t intrinsic) {
    DirectTally() hits;
    action drop() { intrinsic.to = DROP; }
    action send(inout bit<16> counted, bit<9> port, @name("weight") bit<16> by) {
        intrinsic.to = port;
        counted = counted + by;
        hits.count();
    }
    action classify(Class class) { hdr.pair.b = class; }
    @name("paths")
    table route {
        key = {
            hdr.pair.a: exact;
            hdr.pair.c[15:8]: ternary;
            hdr.other.isValid(): exact @name("has_other");
            hdr.pair.a & 3: exact @name("low");
        }
        actions = { send(hdr.pair.c); drop; @defaultonly NoAction; }
        entries = {
            priority = 9: (1, 0x10 &&& 0xf0, true, 1): send(7, 1);
            (3, _, true, 1): drop();
            const priority = 5: (2, _, false, 1): drop();
        }
        size = 64;
        default_action = drop();
        tallies = hits;
    }
    table plain { key = { hdr.pair.b: lpm; } actions = { classify; drop; } }
    apply {
        if (route.apply().hit) {
            switch (plain.apply().action_run) {
                classify: { intrinsic.to = 3; }
                default: { drop(); }
            }
        } else if (plain.apply().miss) {
            classify(Class.HIGH);
        }
    }
}
Device(TakePair(), Route(), PutPair()) main;
