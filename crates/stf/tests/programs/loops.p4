// Nested loops; the packet holds the number of rounds of the inner one.
#include <core.p4>
#include <v1model.p4>

header rounds_h {
    bit<32> outer;
    bit<32> inner;
    bit<32> count;
}

struct headers_t {
    rounds_h rounds;
}

struct metadata_t {}

parser ParseAll(packet_in packet, out headers_t hdr, inout metadata_t meta,
                inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.rounds);
        transition accept;
    }
}

control CheckSums(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Receive(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        hdr.rounds.count = 0;
        for (bit<32> i = 0; i < hdr.rounds.outer; i = i + 1) {
            for (bit<32> j = 0; j < hdr.rounds.inner; j = j + 1) {
                hdr.rounds.count = hdr.rounds.count + 1;
            }
        }
    }
}

control Transmit(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {}
}

control UpdateSums(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control EmitAll(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.rounds);
    }
}

V1Switch(ParseAll(), CheckSums(), Receive(), Transmit(), UpdateSums(), EmitAll()) main;
