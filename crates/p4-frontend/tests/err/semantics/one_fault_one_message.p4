// A wrong part silences what follows from it.
#include "included/bare.p4"
control Use(inout headers_t hdr, inout intrinsic_t intrinsic) {
    missing_t gone;
    apply {
        gone = gone + 1;
        hdr.pair.a = gone.x[3:0] ++ (hdr.nothing.a + 8w1);
        if (gone.isValid()) { hdr.pair.b = gone.f(1); }
    }
}
