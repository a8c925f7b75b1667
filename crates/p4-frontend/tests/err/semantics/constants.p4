#include "included/bare.p4"
extern bit<8> now();
const bit<8> later = now();
const bit<4> cut = 100;
const bit<8> over = 5 / (3 - 3);
const int huge = 1 << 100000000;
const bool no = static_assert(1 == 2, "numbers changed");
control Use(inout headers_t hdr, inout intrinsic_t intrinsic) {
    const bit<8> seen = hdr.pair.a;
    int unbounded = 4;
    Tally<bit<8>>((bit<32>)hdr.pair.a, Kind.packets) tally;
    apply { }
}
