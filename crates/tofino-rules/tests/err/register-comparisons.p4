// Three different comparisons.
#include "shell/before.p4"

control Work(inout headers_t hdr, inout metadata_t md) {
    Register<bit<32>, bit<8>>(256) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) act = { //! register-comparisons
        void apply(inout bit<32> cell, out bit<32> result) {
            result = cell;
            if (cell > hdr.v.a) {
                cell = hdr.v.a;
            } else if (cell == 5) {
                cell = 6;
            } else if (cell < hdr.v.b) {
                cell = hdr.v.b;
            }
        }
    };
    apply { md.x = act.execute(hdr.v.f); }
}

#include "shell/after.p4"
