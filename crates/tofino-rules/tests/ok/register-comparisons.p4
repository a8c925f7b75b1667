// Two different comparisons; one of them twice.
#include "shell/before.p4"

control Work(inout headers_t hdr, inout metadata_t md) {
    Register<bit<32>, bit<8>>(256) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) act = {
        void apply(inout bit<32> cell, out bit<32> result) {
            result = 0;
            if (cell < hdr.v.a) {
                result = cell;
            }
            if (cell == 7) {
                cell = 0;
            } else if (cell >= hdr.v.a) {
                cell = cell + 1;
            }
        }
    };
    apply { md.x = act.execute(hdr.v.f); }
}

#include "shell/after.p4"
