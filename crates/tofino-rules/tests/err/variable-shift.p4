// A shift by a field.
#include "shell/before.p4"

control Work(inout headers_t hdr, inout metadata_t md) {
    action shift() { md.x = hdr.v.a << hdr.v.f; } //! variable-shift
    apply { shift(); }
}

#include "shell/after.p4"
