#include "included/bare.p4"
const int BIG = 1 << 100;
const bit<16> MASK = (bit<16>)(BIG >> 90) - 1;
type bit<9> port_t;
const bool CHECKED = static_assert(MASK == 0x3ff, "the mask has ten bits");

control Compute(inout headers_t hdr, inout intrinsic_t intrinsic) {
    apply {
        int<8> s = (int<8>)hdr.pair.a;
        s = -s >> 2;
        hdr.pair.a = (bit<8>)(s |-| 8s100);
        hdr.pair.c = hdr.pair.a ++ hdr.pair.b;
        hdr.pair.c[11:4] = hdr.pair.c[7:0] & ~hdr.pair.b;
        hdr.pair.c[3 +: 2] = 1;
        hdr.pair.b = hdr.pair.c[hdr.pair.a +: 8] << hdr.pair.a;
        port_t port = (port_t)intrinsic.port;
        intrinsic.to = (bit<9>)port;
        bit<130> wide = (bit<130>)hdr.pair.c * 130w0x1_0000_0000_0000_0000;
        if (wide[129:64] == (bit<66>)hdr.pair.c && !(s < 0)) { hdr.pair.setInvalid(); }
    }
}
Device(TakePair(), Compute(), PutPair()) main;
