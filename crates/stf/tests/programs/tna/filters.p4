// Low-pass filters and random early drops.
#include <tna.p4>
#include "operation.p4"

control Ingress(INGRESS) {
    Lpf<bit<32>, bit<8>>(4) average;
    DirectLpf<bit<32>>() sum;
    Wred<bit<32>, bit<8>>(4, 9, 7) drops;

    action summed() {
        hdr.op.c = sum.execute(hdr.op.a);
    }
    table kinds {
        key = { hdr.op.index: exact; }
        actions = { summed; }
        filters = sum;
        size = 4;
    }

    apply {
        if (hdr.op.kind == 1) {
            hdr.op.c = average.execute(hdr.op.a, hdr.op.index);
        } else if (hdr.op.kind == 2) {
            kinds.apply();
        } else if (hdr.op.kind == 3) {
            hdr.op.c = 24w0 ++ drops.execute(hdr.op.a, hdr.op.index);
        }
        for_tm.ucast_egress_port = 2;
        for_tm.bypass_egress = 1;
    }
}

MAIN
