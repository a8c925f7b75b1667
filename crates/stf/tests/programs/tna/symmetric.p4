// Hashes that do not depend on the order of two fields.
#include <tna.p4>
#include "operation.p4"

control Ingress(INGRESS) {
    @symmetric("hdr.op.a", "hdr.op.b")
    Hash<bit<32>>(HashAlgorithm_t.CRC32) symmetric;
    Hash<bit<32>>(HashAlgorithm_t.CRC32) plain;

    apply {
        bit<32> sum = hdr.op.a ^ hdr.op.b;
        bit<32> wanted = plain.get({hdr.op.index, sum, hdr.op.c, sum});
        hdr.op.c = symmetric.get({hdr.op.index, hdr.op.a, hdr.op.c, hdr.op.b});
        if (hdr.op.c == wanted) {
            hdr.op.kind = 0xff;
        }
        for_tm.ucast_egress_port = 2;
        for_tm.bypass_egress = 1;
    }
}

MAIN
