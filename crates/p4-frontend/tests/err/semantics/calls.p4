#include "included/bare.p4"
void two(in bit<8> x, inout bit<8> y) { }
T same<T>(in T x) { return x; }
extern T made<T>();
control Use(inout headers_t hdr, inout intrinsic_t intrinsic) {
    Tally<bit<8>>(4, Kind.packets) tally;
    Tally<bit<8>>(4) short;
    Tally(4, Kind.octets) untyped;
    apply {
        two(1);
        two(1, hdr.pair.a, 3);
        two(z = 1, y = hdr.pair.a);
        two(_, hdr.pair.a);
        same<bit<8>, bit<9>>(1);
        hdr.pair.a = same(hdr.pair.c);
        tally.count(hdr.pair);
        tally.add(1);
        hdr.pair.a();
        hdr.pair.a.isValid();
        note(hdr.pair.a, hdr.pair.a);
        pick(1, 2, 3);
        made();
    }
}
