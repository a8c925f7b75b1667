// Constants of type int<64> next to the ends of its range keep their width of 64 bits.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<16> value;
    bit<80> least;
    bit<80> next;
    bit<80> greatest;
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

control Join(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        hdr.h.least = hdr.h.value ++ (int<64>) 64w0x8000000000000000;
        hdr.h.next = hdr.h.value ++ (int<64>) 64w0x8000000000000001;
        hdr.h.greatest = hdr.h.value ++ (int<64>) 64w0x7fffffffffffffff;
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

V1Switch(Parse(), Verify(), Join(), Leave(), Compute(), Deparse()) main;
