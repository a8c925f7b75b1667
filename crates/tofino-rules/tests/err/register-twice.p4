// A path accesses the register twice.
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
        md.x = add.execute(hdr.v.f);
        if (hdr.v.d == 1) {
            md.x = read.execute(hdr.v.g); //! register-twice
        }
    }
}

#include "shell/after.p4"
