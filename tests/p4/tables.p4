// Tables, action profiles and value sets of kinds that entities.p4 does not have, for tests of the control
// plane: without keys, with entries of the source, with actions that may only stand in some places, with
// limits on groups.
//
// A probe goes to the controller's port unless a table sends it elsewhere; its octets choose the entries.

#include <core.p4>
#include <v1model.p4>

@controller_header("packet_in")
header packet_in_h {
    bit<9> ingress_port;
    bit<7> mark;
}

@controller_header("packet_out")
header packet_out_h {
    bit<9> egress_port;
    bit<7> padding;
}

header probe_h {
    bit<8> kind;
    bit<8> class;
    bit<16> flow;
    bit<8> rest;
}

@p4runtime_translation("waymark/port", bit<32>)
type bit<9> port_t;

struct headers_t {
    packet_in_h  packet_in;
    packet_out_h packet_out;
    probe_h      probe;
}

struct metadata_t {
    bit<7> mark;
    bit<2> colour;
}

struct accepted_t {
    bit<8> kind;
    @match(ternary) bit<8> class;
}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    value_set<accepted_t>(2) accepted;

    state start {
        transition select(std.ingress_port) {
            510: from_controller;
            default: reject;
        }
    }
    state from_controller {
        packet.extract(hdr.packet_out);
        packet.extract(hdr.probe);
        transition select(hdr.probe.kind, hdr.probe.class) {
            accepted: accept;
            default: marked;
        }
    }
    state marked {
        meta.mark = 0x40;
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control MyIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    direct_counter(CounterType.packets_and_bytes) hits;
    direct_meter<bit<2>>(MeterType.packets) pace;
    direct_counter(CounterType.packets) constant_hits;
    action_profile(4) plain;
    @max_group_size(4) @selector_size_semantics("sum_of_members") @max_member_weight(10)
    action_selector(HashAlgorithm.identity, 16, 8) by_members;
    @max_group_size(6) @selector_size_semantics("sum_of_weights")
    action_selector(HashAlgorithm.identity, 16, 8) by_weights;

    action drop() {
        mark_to_drop(std);
        exit;
    }
    action mark(bit<7> value) {
        meta.mark = value;
    }
    action mark_both(bit<7> high, bit<7> low) {
        meta.mark = high << 4 | low;
    }
    action send(port_t port) {
        std.egress_spec = (bit<9>)port;
    }
    action metered() {
        pace.read(meta.colour);
    }

    table keyless {
        actions = { mark; NoAction; }
        default_action = NoAction();
    }
    table scoped {
        key = { hdr.probe.class : exact @name("class"); }
        actions = { mark; send; @tableonly mark_both; @defaultonly drop; NoAction; }
        default_action = NoAction();
        size = 4;
    }
    table initial {
        key = {
            hdr.probe.class : ternary @name("class");
            hdr.probe.flow  : ternary @name("flow");
        }
        actions = { mark; NoAction; }
        default_action = NoAction();
        entries = {
            const (0xfe, _) : mark(0x11);
            (0xfd, _) : mark(0x12);
        }
        size = 4;
    }
    table constant {
        key = { hdr.probe.class : ternary @name("class"); }
        actions = { mark; NoAction; }
        default_action = NoAction();
        const entries = {
            0xe0 : mark(0x21);
            0xe0 &&& 0xf0 : mark(0x22);
        }
        counters = constant_hits;
    }
    table measured {
        key = { hdr.probe.class : exact @name("class"); }
        actions = { metered; NoAction; }
        default_action = metered();
        counters = hits;
        meters = pace;
    }
    table members {
        key = { hdr.probe.class : exact @name("class"); }
        actions = { mark; NoAction; }
        implementation = plain;
    }
    table few {
        key = {
            hdr.probe.class : exact @name("class");
            hdr.probe.rest  : selector;
        }
        actions = { mark; mark_both; NoAction; }
        implementation = by_members;
    }
    table weighted {
        key = {
            hdr.probe.class : exact @name("class");
            hdr.probe.rest  : selector;
        }
        actions = { mark; NoAction; }
        implementation = by_weights;
    }

    apply {
        if (!hdr.probe.isValid()) {
            drop();
        }
        std.egress_spec = 510;
        keyless.apply();
        scoped.apply();
        initial.apply();
        constant.apply();
        measured.apply();
        members.apply();
        few.apply();
        weighted.apply();
        hdr.packet_in.setValid();
        hdr.packet_in.ingress_port = std.ingress_port;
        hdr.packet_in.mark = meta.mark;
    }
}

control MyEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply { }
}

control Compute(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control MyDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.probe);
    }
}

V1Switch(P(), Verify(), MyIngress(), MyEgress(), Compute(), MyDeparser()) main;
