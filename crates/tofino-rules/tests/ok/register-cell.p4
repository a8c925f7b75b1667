// Cells of 1, 16 and 64 bits, and pairs.
#include "shell/before.p4"

control Work(inout headers_t hdr, inout metadata_t md) {
    Register<bit<1>, bit<8>>(256) bits;
    Register<bit<16>, bit<8>>(256) halves;
    Register<pair_t, bit<8>>(256) pairs;
    RegisterAction<bit<1>, bit<8>, bit<1>>(bits) set = {
        void apply(inout bit<1> cell, out bit<1> result) { result = cell; cell = 1; }
    };
    RegisterAction<bit<16>, bit<8>, bit<16>>(halves) read = {
        void apply(inout bit<16> cell, out bit<16> result) { result = cell; }
    };
    RegisterAction<pair_t, bit<8>, bit<32>>(pairs) high = {
        void apply(inout pair_t cell, out bit<32> result) { cell.low = hdr.v.a; result = cell.high; }
    };
    apply {
        hdr.v.e[0:0] = set.execute(hdr.v.f);
        md.y = read.execute(hdr.v.f);
        md.x = high.execute(hdr.v.f);
    }
}

#include "shell/after.p4"
