// A varbit that is wider than any number: a stack of telemetry may have 255 words of 32 bits.
#include <core.p4>
#include <v1model.p4>

header stack_h {
    bit<8> words;
    varbit<8160> records;
}

header tail_h {
    bit<8> same;
}

struct headers_t {
    stack_h first;
    stack_h second;
    tail_h tail;
}

struct metadata_t {}

parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.first, (bit<32>) packet.lookahead<bit<8>>() << 5);
        packet.extract(hdr.second, (bit<32>) packet.lookahead<bit<8>>() << 5);
        packet.extract(hdr.tail);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Compare(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        if (hdr.first.records == hdr.second.records) {
            hdr.tail.same = 1;
        } else {
            hdr.second.records = hdr.first.records;
            hdr.second.words   = hdr.first.words;
        }
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
        packet.emit(hdr);
    }
}

V1Switch(Parse(), Verify(), Compare(), Leave(), Compute(), Deparse()) main;
