// Saturation at 24 bits.
#include "shell/before.p4"

control Work(inout headers_t hdr, inout metadata_t md) {
    apply { md.x[23:0] = hdr.v.a[23:0] |+| hdr.v.b[23:0]; } //! saturation
}

#include "shell/after.p4"
