// A product of two fields.
#include "shell/before.p4"

control Work(inout headers_t hdr, inout metadata_t md) {
    apply { md.x = hdr.v.a * hdr.v.b; } //! multiplication
}

#include "shell/after.p4"
