#include "included/bare.p4"
control Use(inout headers_t hdr, inout intrinsic_t intrinsic) {
    apply {
        hdr.pair = { 1, 2 };
        hdr.pair = { a = 1, b = 2, d = 3 };
        hdr.pair = { a = 1, a = 2, b = 2, c = 3 };
        hdr.pair = { a = 1, b = 2 };
        hdr.pair = { true, 2, 3 };
        hdr = { { 1, 2, 3 } };
        intrinsic = hdr;
        tuple<bit<8>, bool> t = { 1, 2 };
        hdr.pair.a = t[2];
        hdr.pair.a = t[hdr.pair.a];
        hdr.pair.a = {#};
        if (hdr.pair == intrinsic) { }
        if (hdr.pair < hdr.other) { }
    }
}
