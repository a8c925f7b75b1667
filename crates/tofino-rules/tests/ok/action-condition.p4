// The control branches; an action takes a minimum.
#include "shell/before.p4"

control Work(inout headers_t hdr, inout metadata_t md) {
    action act(bit<32> value) {
        md.x = min(hdr.v.b, value);
        md.y = hdr.v.d < hdr.v.e ? hdr.v.d : hdr.v.e;
        if (hdr.v.g > hdr.v.f) {
            hdr.v.f = hdr.v.g;
        }
    }
    table t { key = { hdr.v.d: exact; } actions = { act; } size = 64; }
    apply {
        if (hdr.v.a == 1) {
            t.apply();
        }
    }
}

#include "shell/after.p4"
