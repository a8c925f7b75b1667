// A range key of 32 bits.
#include "shell/before.p4"

control Work(inout headers_t hdr, inout metadata_t md) {
    action act(bit<32> value) { md.x = value; }
    table t {
        key = { hdr.v.a: range; } //! range-key
        actions = { act; }
        size = 64;
    }
    apply { t.apply(); }
}

#include "shell/after.p4"
