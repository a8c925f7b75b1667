// Cells of 24 bits.
#include "shell/before.p4"

control Work(inout headers_t hdr, inout metadata_t md) {
    Register<bit<24>, bit<8>>(256) cells; //! register-cell
    RegisterAction<bit<24>, bit<8>, bit<24>>(cells) read = {
        void apply(inout bit<24> cell, out bit<24> result) { result = cell; }
    };
    apply { md.x = (bit<32>) read.execute(hdr.v.f); }
}

#include "shell/after.p4"
