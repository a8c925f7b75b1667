// A control plane tells objects of a kind apart by their names.
#include "included/bare.p4"
control Counted() {
    Tally<bit<8>>(16, Kind.packets) tally;
    table t { actions = { } }
    apply { t.apply(); tally.count(1); }
}
control C(inout headers_t hdr, inout intrinsic_t intrinsic) {
    @name("same") Counted() first;
    @name("same") Counted() second;
    @name("x") table one { key = { hdr.pair.a: exact; } actions = { NoAction; } }
    @name("x") table two { key = { hdr.pair.a: exact; } actions = { NoAction; } }
    @name("y") action set_a() { hdr.pair.a = 1; }
    @name("y") action set_b() { hdr.pair.b = 1; }
    table three { actions = { set_a; set_b; } }
    // A hidden table has no name that counts, and another kind has names of its own.
    @hidden @name("x") table four { key = { hdr.pair.a: exact; } actions = { NoAction; } }
    @name("x") Tally<bit<8>>(16, Kind.packets) tally;
    apply { first.apply(); second.apply(); one.apply(); two.apply(); three.apply(); four.apply(); tally.count(1); }
}
Device(TakePair(), C(), PutPair()) main;
