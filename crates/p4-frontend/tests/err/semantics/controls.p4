#include "included/bare.p4"
control Inner(inout bit<8> x) { apply { } }
parser Sub(packet_in packet) { state start { transition accept; } }
control Use(inout headers_t hdr, inout intrinsic_t intrinsic) {
    Inner() inner;
    Inner(3) surplus;
    Sub() sub;

    action act() { inner.apply(hdr.pair.a); }
    table t { actions = { act; } }
    apply {
        inner.apply();
        inner.run();
        inner.apply(hdr.pair.c);
        bit<8> x = t.apply();
        if (inner.apply(hdr.pair.a)) { }
        switch (t.apply().action_run) { act: { } nothing: { } }
        switch (hdr.pair.a) { 1: { } 1: { } default: { } 2: { } }
        switch (hdr.pair) { }
        break;
    }
}
