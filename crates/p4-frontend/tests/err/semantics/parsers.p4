#include "included/bare.p4"
parser NoStart(packet_in packet, out headers_t hdr, inout intrinsic_t intrinsic) {
    state begin { transition accept; }
}
parser Odd(packet_in packet, out headers_t hdr, inout intrinsic_t intrinsic) {
    value_set<bit<16>>(4) known;
    state start {
        packet.extract(hdr);
        packet.extract(hdr.pair, 8);
        packet.extrct(hdr.pair);
        transition select(hdr.pair.a, hdr.pair.b) {
            1: middle;
            (1, 2, 3): midle;
            (1, true): accept;
            (known, 1): accept;
            (5 .. 2, _): reject;
        }
    }
    state middle { transition nowhere; }
    state middle { transition accept; }
    state accept { }
}
