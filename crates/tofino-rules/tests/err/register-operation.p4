// A stateful ALU does not shift.
#include "shell/before.p4"

control Work(inout headers_t hdr, inout metadata_t md) {
    Register<bit<32>, bit<8>>(256) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) act = {
        void apply(inout bit<32> cell, out bit<32> result) {
            cell = cell << 1; //! register-operation
            result = cell;
        }
    };
    apply { md.x = act.execute(hdr.v.f); }
}

#include "shell/after.p4"
