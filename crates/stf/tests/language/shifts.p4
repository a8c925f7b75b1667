// Shifts of the widest kinds by nothing, by whole words of 64 bits, and by the width and more.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<16> amount;
    bit<128> logical;
    bit<128> arithmetic;
    bit<128> left;
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

control Shift(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        hdr.h.logical = hdr.h.logical >> hdr.h.amount;
        hdr.h.arithmetic = (bit<128>)((int<128>) hdr.h.arithmetic >> hdr.h.amount);
        hdr.h.left = hdr.h.left << hdr.h.amount;
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

V1Switch(Parse(), Verify(), Shift(), Leave(), Compute(), Deparse()) main;
