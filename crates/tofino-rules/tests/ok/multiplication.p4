// A product with a power of two.
#include "shell/before.p4"

control Work(inout headers_t hdr, inout metadata_t md) {
    apply { md.x = hdr.v.a * 8 + hdr.v.b; }
}

#include "shell/after.p4"
