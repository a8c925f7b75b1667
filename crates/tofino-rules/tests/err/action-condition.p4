// An action branches on a field.
#include "shell/before.p4"

control Work(inout headers_t hdr, inout metadata_t md) {
    action act(bit<32> value) {
        md.x = hdr.v.a == 1 ? value : hdr.v.b; //! action-condition
    }
    table t { key = { hdr.v.d: exact; } actions = { act; } size = 64; }
    apply { t.apply(); }
}

#include "shell/after.p4"
