// An exit lets the parameters on its way be copied back.
#include "included/bare.p4"
bit<8> step(inout bit<8> x) { x = x + 1; return x; }
control Leave(inout bit<8> x) {
    action out_of_here() { exit; }
    apply { x = 3; if (x == 3) { out_of_here(); } x = 4; }
}
control Ends(inout headers_t hdr, inout intrinsic_t intrinsic) {
    Leave() bound;
    Leave() copied;
    action stop(inout bit<8> x) { x = 5; exit; }
    table t { key = { hdr.pair.c: exact; } actions = { stop(hdr.pair.b); } }
    apply {
        hdr.pair.c[7:0] |= step(hdr.pair.a);
        bound.apply(hdr.pair.a);
        t.apply();
        copied.apply(hdr.pair.a);
        copied.apply(hdr.pair.b);
    }
}
Device(TakePair(), Ends(), PutPair()) main;
