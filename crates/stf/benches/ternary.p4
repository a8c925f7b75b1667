// An access list of ternary and range keys; what it does not deny leaves by port 2.

#include <core.p4>
#include <v1model.p4>

header flow_h {
    bit<32> src;
    bit<32> low;
}

struct headers_t {
    flow_h flow;
}

struct metadata_t {
    bit<1> denied;
}

parser FlowParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                  inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.flow);
        transition accept;
    }
}

control None(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control FlowIngress(inout headers_t hdr, inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    action deny() {
        meta.denied = 1;
    }

    table acl {
        key = {
            hdr.flow.src: ternary @name("src");
            hdr.flow.low: range @name("low");
        }
        actions = { deny; NoAction; }
        default_action = NoAction();
    }

    apply {
        standard_metadata.egress_spec = 2;
        acl.apply();
    }
}

control FlowEgress(inout headers_t hdr, inout metadata_t meta,
                   inout standard_metadata_t standard_metadata) {
    apply { }
}

control FlowDeparser(packet_out packet, in headers_t hdr) {
    apply { packet.emit(hdr.flow); }
}

V1Switch(FlowParser(), None(), FlowIngress(), FlowEgress(), None(), FlowDeparser()) main;
