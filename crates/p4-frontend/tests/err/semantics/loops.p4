#include "included/bare.p4"
control Use(inout headers_t hdr, inout intrinsic_t intrinsic) {
    apply {
        for (bit<8> i = 0; i; i = i + 1) { }
        for (bit<8> i in hdr) { }
        for (bool i in 1 .. 3) { }
        for (bit<8> i in { 1, true }) { }
        i = 3;
    }
}
