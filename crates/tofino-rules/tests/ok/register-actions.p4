// Four actions on a register.
#include "shell/before.p4"

control Work(inout headers_t hdr, inout metadata_t md) {
    Register<bit<32>, bit<8>>(256) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) add0 = {
        void apply(inout bit<32> cell, out bit<32> result) { cell = cell + 1; result = cell; }
    };
    action act0() { md.x = add0.execute(hdr.v.f); }
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) add1 = {
        void apply(inout bit<32> cell, out bit<32> result) { cell = cell + 2; result = cell; }
    };
    action act1() { md.x = add1.execute(hdr.v.f); }
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) add2 = {
        void apply(inout bit<32> cell, out bit<32> result) { cell = cell + 3; result = cell; }
    };
    action act2() { md.x = add2.execute(hdr.v.f); }
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) add3 = {
        void apply(inout bit<32> cell, out bit<32> result) { cell = cell + 4; result = cell; }
    };
    action act3() { md.x = add3.execute(hdr.v.f); }
    table choose { key = { hdr.v.d: exact; } actions = { act0; act1; act2; act3; } size = 64; }
    apply { choose.apply(); }
}

#include "shell/after.p4"
