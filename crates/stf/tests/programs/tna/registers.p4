// Registers and the actions on them, of values, of pairs, of table entries, and as a log.
#include <tna.p4>
#include "operation.p4"

struct pair_t {
    bit<32> low;
    bit<32> high;
}

control Ingress(INGRESS) {
    Register<bit<32>, bit<8>>(4, 7) values;
    Register<pair_t, bit<8>>(4, {1, 2}) pairs;
    Register<bit<16>, bit<8>>(2) log;
    DirectRegister<bit<32>>(5) hits;
    RegisterParam<bit<32>>(1000) step;
    MathUnit<bit<32>>(MathOp_t.MUL, 3) triple;

    RegisterAction<bit<32>, bit<8>, bit<32>>(values) add = {
        void apply(inout bit<32> value, out bit<32> before) {
            before = value;
            value = value |+| hdr.op.a;
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(values) greatest = {
        void apply(inout bit<32> value) {
            value = max(value, hdr.op.a);
        }
    };
    RegisterAction<pair_t, bit<8>, bit<32>>(pairs) swap = {
        void apply(inout pair_t value, out bit<32> sum) {
            bit<32> kept = value.low;
            value.low = value.high;
            value.high = kept;
            if (value.low > hdr.op.a) {
                value.high = value.high + step.read();
            }
            sum = value.low + value.high;
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(values) compare = {
        void apply(inout bit<32> value, out bit<32> which) {
            which = this.predicate(value > hdr.op.a, value > hdr.op.b);
        }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(values) multiply = {
        void apply(inout bit<32> value, out bit<32> product) {
            value = triple.execute(hdr.op.a);
            product = value;
        }
    };
    RegisterAction<bit<16>, bit<8>, bit<16>>(log) note = {
        void apply(inout bit<16> value, out bit<16> before) {
            before = value;
            value = hdr.op.a[15:0];
        }
    };
    DirectRegisterAction<bit<32>, bit<32>>(hits) hit = {
        void apply(inout bit<32> value, out bit<32> given) {
            value = value + 1;
            given = value;
        }
    };

    action count_hit() {
        hdr.op.c = hit.execute();
    }
    table entries {
        key = { hdr.op.index: exact; }
        actions = { count_hit; }
        const default_action = count_hit;
        const entries = {
            1: count_hit;
            2: count_hit;
        }
        registers = hits;
    }

    apply {
        if (hdr.op.kind == 1) {
            hdr.op.c = add.execute(hdr.op.index);
        } else if (hdr.op.kind == 2) {
            greatest.execute(hdr.op.index);
        } else if (hdr.op.kind == 3) {
            hdr.op.c = swap.execute(hdr.op.index);
        } else if (hdr.op.kind == 4) {
            hdr.op.c = compare.execute(hdr.op.index);
        } else if (hdr.op.kind == 5) {
            hdr.op.c = 16w0 ++ note.execute_log();
        } else if (hdr.op.kind == 6) {
            entries.apply();
        } else if (hdr.op.kind == 7) {
            pair_t pair = pairs.read(hdr.op.index);
            hdr.op.b = pair.low;
            hdr.op.c = pair.high;
        } else if (hdr.op.kind == 8) {
            pairs.write(hdr.op.index, {hdr.op.a, hdr.op.b});
        } else if (hdr.op.kind == 9) {
            hdr.op.c = values.read(hdr.op.index);
        } else if (hdr.op.kind == 10) {
            hdr.op.c = multiply.execute(hdr.op.index);
        }
        for_tm.ucast_egress_port = 2;
        for_tm.bypass_egress = 1;
    }
}

MAIN
