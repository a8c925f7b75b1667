// Custom CRCs, called `calc` and `calc_1` by a control plane: the calculation between them has a fixed algorithm.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<72> digits;
    bit<16> crc16;
    bit<16> fixed;
    bit<32> crc32;
}

struct headers_t {
    h_t h;
}

struct metadata_t {}

parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.h);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Hash(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        hash(hdr.h.crc16, HashAlgorithm.crc16_custom, 16w0, { hdr.h.digits }, 32w0x10000);
        hash(hdr.h.fixed, HashAlgorithm.crc16, 16w0, { hdr.h.digits }, 32w0x10000);
        hash(hdr.h.crc32, HashAlgorithm.crc32_custom, 32w0, { hdr.h.digits }, 64w0x100000000);
    }
}

control Leave(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {}
}

control Compute(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.h);
    }
}

V1Switch(Parse(), Verify(), Hash(), Leave(), Compute(), Deparse()) main;
