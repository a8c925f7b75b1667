// A table chooses between shifts by constants.
#include "shell/before.p4"

control Work(inout headers_t hdr, inout metadata_t md) {
    action by_4() { md.x = hdr.v.a << 4; }
    action by_8() { md.x = hdr.v.a << 8; }
    table shift { key = { hdr.v.f: exact; } actions = { by_4; by_8; NoAction; } size = 64; }
    apply { shift.apply(); }
}

#include "shell/after.p4"
