// A field list is known by a number, which may be a constant or computed of constants. What it names is kept as it
// is at the end of ingress, wherever the clone was asked for.

#include <core.p4>
#include <v1model.p4>

const int FIRST = 1;
const bit<8> SECOND = 2;

enum bit<8> reason_t { UNKNOWN = 1, ASKED = 2 }

header octet_h {
    bit<8> value;
}

struct headers_t {
    octet_h which;
    octet_h port;
    octet_h reason;
}

struct metadata_t {
    @field_list(FIRST, SECOND)
    bit<9> port;
    @field_list(FIRST + 1)
    reason_t reason;
}

parser HopParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                 inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.which);
        transition accept;
    }
}

control NoCheck(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control HopIngress(inout headers_t hdr, inout metadata_t meta,
                   inout standard_metadata_t standard_metadata) {
    apply {
        if (hdr.which.value == 1) {
            clone_preserving_field_list(CloneType.I2E, 5, 1);
        } else {
            clone_preserving_field_list(CloneType.I2E, 5, SECOND);
        }
        meta.port = standard_metadata.ingress_port;
        meta.reason = reason_t.ASKED;
        mark_to_drop(standard_metadata);
    }
}

control HopEgress(inout headers_t hdr, inout metadata_t meta,
                  inout standard_metadata_t standard_metadata) {
    apply {
        hdr.port = { (bit<8>) meta.port };
        hdr.reason = { (bit<8>) meta.reason };
    }
}

control HopDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(HopParser(), NoCheck(), HopIngress(), HopEgress(), NoCheck(), HopDeparser()) main;
