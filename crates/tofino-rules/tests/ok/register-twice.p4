// Of the actions on the register each path executes one.
#include "shell/before.p4"

control Work(inout headers_t hdr, inout metadata_t md) {
    Register<bit<32>, bit<8>>(256) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) add = {
        void apply(inout bit<32> cell, out bit<32> result) { cell = cell + hdr.v.a; result = cell; }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) read = {
        void apply(inout bit<32> cell, out bit<32> result) { result = cell; }
    };
    apply {
        if (hdr.v.d == 1) {
            md.x = add.execute(hdr.v.f);
        } else {
            md.x = read.execute(hdr.v.f);
        }
    }
}

#include "shell/after.p4"
