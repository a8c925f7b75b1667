#include "included/bare.p4"

// Each instance has its own table and its own storage; the first is applied once, the second twice.
control Add(inout bit<8> to, in bit<8> by)(bit<8> limit, Tally<bit<32>> tally) {
    bit<8> sum = to;
    action bump(bit<8> more) { sum = sum + by + more; tally.count(limit ++ 24w0); }
    table extra { key = { by: exact; } actions = { bump; } default_action = bump(limit); }
    apply {
        if (sum > limit) return;
        extra.apply();
        to = sum;
    }
}
Tally<bit<32>>(16, Kind.packets) shared;
control Sum(inout headers_t hdr, inout intrinsic_t intrinsic) {
    Tally<bit<32>>(8, Kind.octets) own;
    Add(100, shared) once;
    @name("again") Add(7, own) twice;
    apply {
        once.apply(hdr.pair.a, hdr.pair.b);
        twice.apply(hdr.pair.a, hdr.pair.a + 1);
        twice.apply(hdr.pair.b, 4);
    }
}
Device(TakePair(), Sum(), PutPair()) main;
