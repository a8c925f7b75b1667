// Registers of Tofino 2: queues, stacks, several results, the least and greatest part of a value, and clearing.
#include <t2na.p4>
#include "operation.p4"

control Ingress(INGRESS) {
    Register<bit<32>, bit<8>>(2) cells;
    Register<bit<128>, bit<8>>(1) parts;

    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) put = {
        void apply(inout bit<32> value, out bit<32> done) {
            value = hdr.op.a;
            done = 1;
        }
        void overflow(inout bit<32> value, out bit<32> done) {
            done = 0xff;
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) get = {
        void apply(inout bit<32> value, out bit<32> given) {
            given = value;
        }
    };
    RegisterAction2<bit<32>, bit<8>, bit<32>, bit<32>>(cells) both = {
        void apply(inout bit<32> value, out bit<32> now, out bit<32> next) {
            now = value;
            next = value + 1;
        }
    };
    MinMaxAction2<bit<128>, bit<8>, bit<8>, bit<4>>(parts) least = {
        void apply(inout bit<128> value, out bit<8> found, out bit<4> number) {
            value[31:0] = hdr.op.a;
            value[63:32] = hdr.op.b;
            found = this.min8(value, 0xfe, number);
        }
    };
    MinMaxAction<bit<128>, bit<8>, bit<16>>(parts) most = {
        void apply(inout bit<128> value, out bit<16> found) {
            found = this.max16(value, 0xff);
        }
    };

    apply {
        if (hdr.op.kind == 1) {
            hdr.op.c = put.enqueue();
        } else if (hdr.op.kind == 2) {
            hdr.op.c = get.dequeue();
        } else if (hdr.op.kind == 3) {
            hdr.op.c = put.push();
        } else if (hdr.op.kind == 4) {
            hdr.op.c = get.pop();
        } else if (hdr.op.kind == 5) {
            hdr.op.b = both.execute(hdr.op.index, hdr.op.c);
        } else if (hdr.op.kind == 6) {
            cells.clear(hdr.op.a);
        } else if (hdr.op.kind == 7) {
            bit<4> number;
            hdr.op.c = 0;
            hdr.op.c[15:8] = least.execute(0, number);
            hdr.op.c[3:0] = number;
        } else if (hdr.op.kind == 8) {
            hdr.op.c = 16w0 ++ most.execute(0);
        }
        for_tm.ucast_egress_port = 2;
        for_tm.bypass_egress = 1;
    }
}

MAIN
