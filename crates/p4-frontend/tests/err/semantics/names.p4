// Names that are not there, or are something else.
#include "included/bare.p4"
control Use(inout headers_t hdr, inout intrinsic_t intrinsic) {
    action mark() { hdr.pair.aa = 1; }
    apply {
        hdr.piar.a = 1;
        bit<8> count = cuont;
        late(hdr.pair.a);
        unknown.apply();
        pair_t other;
        mark = 3;
        hdr.pair = headers_t;
        intrinsic.problem = error.NoMach;
    }
}
void late(in bit<8> x) { }
