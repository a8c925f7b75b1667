// Counters and meters, which work where an action calls them, and a profile of actions that a selector chooses from.
#include <tna.p4>
#include "operation.p4"

control Ingress(INGRESS) {
    Counter<bit<32>, bit<8>>(4, CounterType_t.PACKETS_AND_BYTES) counts;
    DirectCounter<bit<32>>(CounterType_t.PACKETS_AND_BYTES) hits;
    Meter<bit<8>>(4, MeterType_t.PACKETS) meter;
    Meter<bit<8>>(4, MeterType_t.PACKETS, 30, 20, 10) named;

    action counted() {
        hits.count();
        hdr.op.c = 1;
    }
    action shorter() {
        hits.count(4);
        hdr.op.c = 2;
    }
    action ignored() {
        hdr.op.c = 3;
    }
    table kinds {
        key = { hdr.op.index: exact; }
        actions = { counted; shorter; ignored; }
        default_action = ignored;
        counters = hits;
        size = 16;
    }

    apply {
        if (hdr.op.kind == 1) {
            counts.count(hdr.op.index);
        } else if (hdr.op.kind == 2) {
            counts.count(hdr.op.index, sizeInBytes(hdr.op));
        } else if (hdr.op.kind == 3) {
            kinds.apply();
        } else if (hdr.op.kind == 4) {
            hdr.op.c = 24w0 ++ meter.execute(hdr.op.index);
            hdr.op.b = 24w0 ++ named.execute(hdr.op.index, MeterColor_t.YELLOW, 0);
            hdr.op.a = 24w0 ++ meter.execute(index = hdr.op.index, color = MeterColor_t.RED);
        }
        for_tm.ucast_egress_port = 2;
        for_tm.bypass_egress = 1;
    }
}

MAIN
