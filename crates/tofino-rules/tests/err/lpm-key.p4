// Two lpm keys.
#include "shell/before.p4"

control Work(inout headers_t hdr, inout metadata_t md) {
    action act(bit<32> value) { md.x = value; }
    table t { key = { hdr.v.a: lpm; hdr.v.d: lpm; } actions = { act; } size = 64; } //! lpm-key
    apply { t.apply(); }
}

#include "shell/after.p4"
