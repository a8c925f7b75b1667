// Saturation at 16 and 32 bits.
#include "shell/before.p4"

control Work(inout headers_t hdr, inout metadata_t md) {
    apply { md.x = hdr.v.a |+| hdr.v.b; md.y = hdr.v.d |-| hdr.v.e; }
}

#include "shell/after.p4"
