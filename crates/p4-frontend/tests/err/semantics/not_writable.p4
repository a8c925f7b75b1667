#include "included/bare.p4"
const bit<8> LIMIT = 4;
control Inner(in bit<8> seen, inout bit<8> kept)(bit<8> fixed) {
    action set(bit<8> data) { data = 1; }
    apply { seen = 1; fixed = 2; kept = seen; }
}
control Use(inout headers_t hdr, inout intrinsic_t intrinsic) {
    Inner(3) inner;
    apply {
        LIMIT = 5;
        hdr.pair.a[3:0] = true;
        inner.apply(hdr.pair.a, 4);
        inner.apply(hdr.pair.a, hdr.pair.c);
    }
}
control Put(packet_out packet, in headers_t hdr) { apply { hdr.pair.setInvalid(); } }
