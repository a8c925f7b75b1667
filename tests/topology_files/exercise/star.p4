// A learning-free bridge of three hosts: known addresses are forwarded, others are flooded. What goes to
// a known address is cloned to a session, and what leaves carries the switch's mark in its source address.

#include <core.p4>
#include <v1model.p4>

header ethernet_h {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
}

struct headers_t {
    ethernet_h ethernet;
}

struct metadata_t {}

parser StarParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                  inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control NoCheck(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control StarIngress(inout headers_t hdr, inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    action drop() {
        mark_to_drop(standard_metadata);
    }
    action flood(bit<16> group) {
        standard_metadata.mcast_grp = group;
    }
    action forward(bit<9> port) {
        standard_metadata.egress_spec = port;
        clone(CloneType.I2E, 7);
    }
    action admit() {}

    table host {
        key = { hdr.ethernet.dst_addr : exact; }
        actions = { forward; flood; drop; }
        default_action = drop();
    }
    table gate {
        key = {
            standard_metadata.ingress_port : exact;
            hdr.ethernet.ether_type : ternary;
        }
        actions = { admit; drop; }
        default_action = drop();
    }

    apply {
        switch (gate.apply().action_run) {
            admit: { host.apply(); }
        }
    }
}

control StarEgress(inout headers_t hdr, inout metadata_t meta,
                   inout standard_metadata_t standard_metadata) {
    action mark(bit<16> switch_id) {
        hdr.ethernet.src_addr[47:32] = switch_id;
    }
    action leave() {}
    action back() {
        mark_to_drop(standard_metadata);
    }

    table identity {
        actions = { mark; leave; }
        default_action = leave();
    }
    table returning {
        key = { standard_metadata.egress_port : exact; standard_metadata.ingress_port : exact; }
        actions = { back; leave; }
        default_action = leave();
    }

    apply {
        returning.apply();
        identity.apply();
    }
}

control StarDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
    }
}

V1Switch(StarParser(), NoCheck(), StarIngress(), StarEgress(), NoCheck(), StarDeparser()) main;
