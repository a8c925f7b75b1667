// One of every kind of entity that P4Runtime knows, for tests of the control plane.
//
// A probe is a frame of EtherType 0x1234. One that a controller sends to port 0 goes through the tables
// like one that came in on a port, so that most can be tried without interfaces.

#include <core.p4>
#include <v1model.p4>

@controller_header("packet_in")
header packet_in_h {
    bit<9> ingress_port;
    bit<7> padding;
}

@controller_header("packet_out")
header packet_out_h {
    bit<9> egress_port;
    bit<7> padding;
}

header ethernet_h {
    bit<48> dst;
    bit<48> src;
    bit<16> kind;
}

header probe_h {
    bit<32> address;
    bit<16> flow;
    int<8>  level;
    bit<8>  class;
}

struct headers_t {
    packet_in_h  packet_in;
    packet_out_h packet_out;
    ethernet_h   ethernet;
    probe_h      probe;
}

struct metadata_t {
    bit<2> colour;
}

struct learn_t {
    bit<48> src;
    bit<9>  port;
}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    value_set<bit<16>>(4) probes;

    state start {
        transition select(std.ingress_port) {
            510: from_controller;
            default: ethernet;
        }
    }
    state from_controller {
        packet.extract(hdr.packet_out);
        transition ethernet;
    }
    state ethernet {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.kind) {
            0x1234: probe;
            probes: probe;
            default: accept;
        }
    }
    state probe {
        packet.extract(hdr.probe);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control MyIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    counter(8, CounterType.packets_and_bytes) by_port;
    meter(4, MeterType.packets) limits;
    register<bit<48>>(16) last_src;
    register<bool>(2) switches;
    direct_counter(CounterType.packets_and_bytes) hits;
    direct_meter<bit<2>>(MeterType.packets) pace;
    action_selector(HashAlgorithm.crc16, 32, 16) paths;

    action drop() {
        mark_to_drop(std);
    }
    action forward(bit<9> port) {
        std.egress_spec = port;
    }
    action flood(bit<16> group) {
        std.mcast_grp = group;
    }
    action to_controller() {
        std.egress_spec = 510;
        hdr.packet_in.setValid();
        hdr.packet_in.ingress_port = std.ingress_port;
    }
    action copy(bit<32> session) {
        clone(CloneType.I2E, session);
    }
    action learn() {
        digest<learn_t>(1, { hdr.ethernet.src, std.ingress_port });
    }
    action shift(int<8> by) {
        hdr.probe.level = hdr.probe.level + by;
    }
    action metered() {
        pace.read(meta.colour);
    }

    table route {
        key = { hdr.probe.address : lpm @name("address"); }
        actions = { forward; flood; to_controller; @defaultonly drop; }
        default_action = drop();
        counters = hits;
        support_timeout = true;
        size = 64;
    }
    table classify {
        key = {
            hdr.probe.address : ternary @name("address");
            hdr.probe.flow    : range @name("flow");
            hdr.probe.class   : optional @name("class");
        }
        actions = { shift; copy; learn; NoAction; }
        default_action = NoAction();
        size = 64;
    }
    table police {
        key = { hdr.probe.flow : exact @name("flow"); }
        actions = { metered; NoAction; }
        default_action = NoAction();
        meters = pace;
    }
    table spread {
        key = {
            hdr.probe.class : exact @name("class");
            hdr.probe.flow  : selector;
        }
        actions = { forward; drop; NoAction; }
        implementation = paths;
        size = 16;
    }
    table fixed {
        key = { hdr.probe.class : exact @name("class"); }
        actions = { drop; NoAction; }
        const default_action = NoAction();
        const entries = {
            0xfe : drop();
            0xff : NoAction();
        }
    }

    apply {
        if (hdr.packet_out.isValid() && hdr.packet_out.egress_port != 0) {
            std.egress_spec = hdr.packet_out.egress_port;
        } else if (hdr.probe.isValid()) {
            bit<32> slot = (bit<32>)std.ingress_port & 7;
            by_port.count(slot);
            last_src.write(slot, hdr.ethernet.src);
            limits.execute_meter((bit<32>)0, meta.colour);
            route.apply();
            classify.apply();
            police.apply();
            spread.apply();
            fixed.apply();
        } else {
            drop();
        }
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
        packet.emit(hdr.ethernet);
        packet.emit(hdr.probe);
    }
}

V1Switch(P(), Verify(), MyIngress(), MyEgress(), Compute(), MyDeparser()) main;
