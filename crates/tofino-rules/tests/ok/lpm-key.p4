// An lpm key in a table with an exact, a ternary and a range key.
#include "shell/before.p4"

control Work(inout headers_t hdr, inout metadata_t md) {
    action act(bit<32> value) { md.x = value; }
    table t { key = { hdr.v.a: lpm; hdr.v.b: exact; hdr.v.c: ternary; hdr.v.d: range; } actions = { act; } size = 64; }
    apply { t.apply(); }
}

#include "shell/after.p4"
