#include "included/bare.p4"

struct Two<T> { T first; T second; }
T larger<T>(in T a, in T b, in bool swap) { if (swap) { return b; } return a; }
bit<8> next(inout bit<8> x) { x = x + 1; return x; }
Two<bit<8>> both(in bit<8> x) { return { x, x + 1 }; }

control Compute(inout headers_t hdr, inout intrinsic_t intrinsic) {
    Unit() unit;
    apply {
        // The left operand is read before the call changes it.
        hdr.pair.a = hdr.pair.a + next(hdr.pair.a);
        hdr.pair.b = larger(hdr.pair.a, 8w3, hdr.pair.c == 0 || next(hdr.pair.b) > 2);
        Two<bit<8>> two = both(next(hdr.pair.b));
        two = { two.second, two.first };
        hdr.pair.c = unit.get({ hdr.pair.a, two.first, hdr.other });
        note("pair", { hdr.pair, 16w7 });
        pick(hdr.pair.c[7:0], 1, two.second);
        tuple<bit<8>, bool> t = { two.first, true };
        if (t[1] && t == { 8w1, true }) { intrinsic.to = (bit<9>)t[0]; }
    }
}
Device(TakePair(), Compute(), PutPair()) main;
