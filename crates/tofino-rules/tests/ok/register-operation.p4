// The result is shifted afterwards.
#include "shell/before.p4"

control Work(inout headers_t hdr, inout metadata_t md) {
    Register<bit<32>, bit<8>>(256) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) add = {
        void apply(inout bit<32> cell, out bit<32> result) { cell = cell + hdr.v.a; result = cell; }
    };
    action halve() { md.x = md.x >> 1; }
    apply {
        md.x = add.execute(hdr.v.f);
        halve();
    }
}

#include "shell/after.p4"
