// A register whose index has any type: `_` in the type, and each call decides.
#include <tna.p4>
#include "operation.p4"

control Ingress(INGRESS) {
    Register<bit<32>, _>(256) sums;
    RegisterAction<bit<32>, _, bit<32>>(sums) add = {
        void apply(inout bit<32> cell, out bit<32> result) {
            cell = cell + hdr.op.a;
            result = cell;
        }
    };

    apply {
        if (hdr.op.kind == 0) {
            hdr.op.c = add.execute(hdr.op.index);
        } else if (hdr.op.kind == 1) {
            hdr.op.c = add.execute(hdr.op.b);
        } else {
            hdr.op.c = add.execute(7);
        }
        for_tm.ucast_egress_port = 2;
        for_tm.bypass_egress = 1;
    }
}

MAIN
