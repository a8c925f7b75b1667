#include "included/bare.p4"
control Use(inout headers_t hdr, inout intrinsic_t intrinsic) {
    apply {
        hdr.pair.c = hdr.pair.a + hdr.pair.c;
        hdr.pair.a = hdr.pair.c;
        if (hdr.pair.a) { }
        if (!hdr.pair.a == 3) { }
        hdr.pair.a = true & false;
        hdr.pair.a = -hdr.pair;
        bit<8> x = hdr.pair.a << 8s2 << -1;
        hdr.pair.a = 1 ++ 2;
        hdr.pair.a = x / 0;
        x = x && x;
        x = (bit<8>)(int<4>)x;
        x = hdr.pair.a == hdr.pair.c ? 1 : 2;
    }
}
