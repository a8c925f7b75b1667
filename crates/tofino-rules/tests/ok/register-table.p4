// What a table did excludes the other access.
#include "shell/before.p4"

control Work(inout headers_t hdr, inout metadata_t md) {
    Register<bit<32>, bit<8>>(256) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) add = {
        void apply(inout bit<32> cell, out bit<32> result) { cell = cell + hdr.v.a; result = cell; }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) read = {
        void apply(inout bit<32> cell, out bit<32> result) { result = cell; }
    };
    action count() { md.x = add.execute(hdr.v.f); }
    action look() { md.x = read.execute(hdr.v.f); }
    table counted {
        key = { hdr.v.d: exact; }
        actions = { count; look; NoAction; }
        const default_action = NoAction;
        size = 64;
    }
    apply { counted.apply(); }
}

#include "shell/after.p4"
