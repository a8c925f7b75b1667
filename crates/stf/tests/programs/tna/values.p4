// Hashes, and functions of values.
#include <tna.p4>
#include "operation.p4"

control Ingress(INGRESS) {
    Hash<bit<32>>(HashAlgorithm_t.CRC16) crc16;
    Hash<bit<32>>(HashAlgorithm_t.CRC32) crc32;
    Hash<bit<16>>(HashAlgorithm_t.CRC8) crc8;
    Hash<bit<64>>(HashAlgorithm_t.CRC64) crc64;
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) identity;
    Hash<bit<16>>(HashAlgorithm_t.XOR8) xor8;
    Hash<bit<16>>(HashAlgorithm_t.XOR16) xor16;
    Hash<bit<32>>(HashAlgorithm_t.XOR32) xor32;
    Hash<bit<32>>(HashAlgorithm_t.RANDOM) drawn;
    CRCPolynomial<bit<16>>(0x1021, true, false, false, 0xffff, 0xffff) x25_polynomial;
    Hash<bit<32>>(HashAlgorithm_t.CUSTOM, x25_polynomial) x25;
    CRCPolynomial<bit<5>>(0x15, false, false, true, 0x1f, 0x03) short_polynomial;
    Hash<bit<11>>(HashAlgorithm_t.CUSTOM, short_polynomial) short;
    Random<bit<4>>() random;

    apply {
        if (hdr.op.kind == 1) {
            hdr.op.a = crc16.get({72w0x313233343536373839});
            hdr.op.b = crc32.get({72w0x313233343536373839});
            hdr.op.c = x25.get({72w0x313233343536373839});
        } else if (hdr.op.kind == 2) {
            bit<64> wide = crc64.get({72w0x313233343536373839});
            hdr.op.a = wide[63:32];
            hdr.op.b = wide[31:0];
            hdr.op.c = 16w0 ++ crc8.get({72w0x313233343536373839});
        } else if (hdr.op.kind == 3) {
            hdr.op.b = xor8.get({hdr.op.a}) ++ xor16.get({hdr.op.a, 8w0x56});
            hdr.op.c = xor32.get({hdr.op.a, 8w0x56});
            hdr.op.a = 16w0 ++ identity.get({hdr.op.a});
        } else if (hdr.op.kind == 4) {
            // Zeros go in front of what is not a whole number of octets.
            hdr.op.b = crc32.get({hdr.op.a[11:0]}) ^ crc32.get({4w0, hdr.op.a[11:0]});
            hdr.op.c = drawn.get({hdr.op.a}) ^ drawn.get({hdr.op.a});
            hdr.op.a = 31w0 ++ (bit<1>)(drawn.get({hdr.op.a}) == drawn.get({~hdr.op.a}));
        } else if (hdr.op.kind == 5) {
            hdr.op.c = max(hdr.op.a, hdr.op.b);
            hdr.op.a = min(hdr.op.a, hdr.op.b);
        } else if (hdr.op.kind == 6) {
            hdr.op.c = 24w0 ++ (bit<8>) max((int<8>) hdr.op.a[7:0], (int<8>) hdr.op.b[7:0]);
            funnel_shift_right(hdr.op.b, hdr.op.a, hdr.op.b, 12);
        } else if (hdr.op.kind == 7) {
            hdr.op.a = sizeInBytes(hdr.op);
            hdr.op.b = sizeInBits(hdr.op.kind);
            hdr.op.c = 31w0 ++ (bit<1>) is_validated(hdr.op);
        } else if (hdr.op.kind == 8) {
            for_tm.mcast_grp_a = 1;
        } else if (hdr.op.kind == 9) {
            hdr.op.a = 28w0 ++ random.get();
        } else if (hdr.op.kind == 10) {
            hdr.op.c = 21w0 ++ short.get({hdr.op.a[7:0]});
        }
        for_tm.ucast_egress_port = 2;
        for_tm.bypass_egress = 1;
        if (hdr.op.kind == 8) {
            invalidate(for_tm.ucast_egress_port);
            invalidate(for_tm.mcast_grp_a);
        }
    }
}

MAIN
