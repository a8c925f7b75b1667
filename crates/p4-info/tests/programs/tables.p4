// Tables, actions and their names, annotations and IDs.
#include <core.p4>
#include <v1model.p4>

@brief("An Ethernet header") @description("Without the frame check sequence.\nIt is 14 octets.")
header ethernet_h {
    bit<48> dst_addr;
    @name("source") bit<48> src_addr;
    bit<16> ether_type;
}

header numbers_h {
    bit<8>   low;
    bit<8>   high;
    int<16>  delta;
    bit<320> wide;
}

struct headers_t {
    ethernet_h ethernet;
    @name("counts") numbers_h numbers;
    numbers_h[3] stack;
}

struct metadata_t {
    bool     flag;
    bit<12>  group;
}

const int COUNT = 2 + 3;
const bit<8> MASK = 0b1010;
const bit<8> WIDER = MASK | 1;

parser PacketParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        packet.extract(hdr.numbers);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) { apply { } }
control Compute(inout headers_t hdr, inout metadata_t meta) { apply { } }

// Used by two controls.
@brief("Sends to nowhere")
action drop_it(inout standard_metadata_t standard) { mark_to_drop(standard); }

action global_noop() { }

@name("renamed_type_is_ignored")
control Group(inout headers_t hdr, inout metadata_t meta)(bit<12> step) {
    action set_group(bit<12> group) { meta.group = group + step; }
    @name("inner") action other(@id(7) bit<8> a, bit<16> b, @name("third") bool c) {
        hdr.numbers.low = a;
        hdr.ethernet.ether_type = b;
        meta.flag = c;
    }
    table groups {
        key = { meta.group : exact; hdr.numbers.wide : ternary; }
        actions = { set_group; other; @defaultonly NoAction; }
        default_action = other(1, 0x203, true);
    }
    apply { groups.apply(); }
}

control MyIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action only_called(bit<9> port) { standard.egress_spec = port; }
    action only_within() { hdr.numbers.high = 1; }
    action calls() { only_within(); }
    action never_used() { }

    @id(0x00abcdef) @plain(a, "b", 0x10) @lone @empty()
    action forward(@brief("Where to") bit<9> port, @id(1) bit<48> mac) {
        standard.egress_spec = port;
        hdr.ethernet.dst_addr = mac;
    }

    Group(1) first;
    @name("again") Group(2) second;

    @brief("Where to send") @description("By destination")
    @numbers[1, COUNT, 3 > 2, "x" ++ "y", -4]
    @pairs[label = "text", flag = false, size = 0x10]
    table route {
        key = {
            hdr.ethernet.dst_addr     : lpm;
            hdr.ethernet.src_addr     : exact @id(9) @marked;
            hdr.numbers.low[6:2]      : ternary @name("bits");
            hdr.numbers.high          : range @brief("Upper");
            hdr.numbers.delta         : optional;
            hdr.numbers.isValid()     : exact;
            hdr.stack[1].low          : exact;
            hdr.numbers.low & 8w0x0F  : exact;
            hdr.numbers.high & MASK   : exact;
            hdr.numbers.low & WIDER   : exact;
            meta.flag                 : ternary;
        }
        actions = { forward; @tableonly calls; @defaultonly drop_it(standard); global_noop; }
        const default_action = drop_it(standard);
        size = 4096;
        support_timeout = true;
    }

    table fixed {
        key = { hdr.ethernet.ether_type : exact; }
        actions = { NoAction; calls; }
        const entries = { 0x800 : calls(); 0x806 : NoAction(); }
    }

    table filled {
        key = { hdr.ethernet.ether_type : exact; }
        actions = { calls; }
        entries = { const 0x800 : calls(); }
        size = 0;
    }

    @hidden table unseen {
        actions = { calls; }
        default_action = calls;
    }

    table never_applied { actions = { never_used; } }
    table not_reached { actions = { never_used; } }

    apply {
        if (route.apply().hit) {
            fixed.apply();
        } else {
            filled.apply();
        }
        unseen.apply();
        second.apply(hdr, meta);
        first.apply(hdr, meta);
        only_called(3);
        if (COUNT < 5) { not_reached.apply(); }
    }
}

control Anonymous(inout headers_t hdr, inout standard_metadata_t standard) {
    table drops { actions = { drop_it(standard); global_noop; } }
    apply { drops.apply(); }
}

control MyEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    @name(".absolute.name") table named { actions = { global_noop; } }
    apply {
        Anonymous.apply(hdr, standard);
        named.apply();
    }
}

control MyDeparser(packet_out packet, in headers_t hdr) {
    apply { packet.emit(hdr); }
}

@pkginfo(name = "tables.p4", version = "1.2", organization = "waymark", contact = "none", url = "example.org")
@brief("What tables look like") @other("kept")
@platform_property(multicast_group_table_size = 10, multicast_group_table_total_replicas = 20)
V1Switch(PacketParser(), Verify(), MyIngress(), MyEgress(), Compute(), MyDeparser()) main;
