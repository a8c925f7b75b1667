// Forwards a frame of two octets by its first; drops what it does not know.
#include <core.p4>
#include <v1model.p4>

header frame_t {
    bit<8> to;
    bit<8> left;
}
struct headers_t { frame_t frame; }
struct meta_t { }

parser Reading(packet_in packet, out headers_t hdr, inout meta_t meta,
               inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.frame);
        transition select(hdr.frame.left) {
            0: reject;
            default: accept;
        }
    }
}

control Checking(inout headers_t hdr, inout meta_t meta) { apply { } }

control Forwarding(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    action drop() { mark_to_drop(standard); }
    action send(bit<9> port) { standard.egress_spec = port; }
    table route {
        key = { hdr.frame.to: lpm; }
        actions = { send; drop; }
        default_action = drop();
    }
    apply {
        route.apply();
        hdr.frame.left = hdr.frame.left |-| 1;
    }
}

control Leaving(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    apply { }
}

control Writing(packet_out packet, in headers_t hdr) {
    apply { packet.emit(hdr); }
}

V1Switch(Reading(), Checking(), Forwarding(), Leaving(), Checking(), Writing()) main;
