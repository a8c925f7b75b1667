// A program whose packets multiply: every replica of the packet comes back to ingress, which replicates
// it again.
#include <core.p4>
#include <v1model.p4>

header octet_h {
    bit<8> value;
}

struct headers_t {
    octet_h octet;
}

struct metadata_t {
    @field_list(1) bit<8> kept;
}

parser ParseAll(packet_in packet, out headers_t hdr, inout metadata_t meta,
                inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.octet);
        transition accept;
    }
}

control CheckSums(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Receive(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        if (hdr.octet.value == 1) {
            std.mcast_grp = 1;
        } else {
            std.egress_spec = 3;
        }
    }
}

control Transmit(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        if (hdr.octet.value == 1) {
            recirculate_preserving_field_list(1);
        }
    }
}

control UpdateSums(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control EmitAll(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.octet);
    }
}

V1Switch(ParseAll(), CheckSums(), Receive(), Transmit(), UpdateSums(), EmitAll()) main;
