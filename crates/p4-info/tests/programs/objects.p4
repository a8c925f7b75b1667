// Extern objects, digests, packet headers, value sets.
#include <core.p4>
#include <v1model.p4>

enum bit<16> EtherType { ipv4 = 0x0800, arp = 0x0806 }
enum Colour { red, green }
type bit<9> port_t;

header ethernet_h {
    bit<48>   dst_addr;
    bit<48>   src_addr;
    EtherType ether_type;
}

struct pair_t { bit<16> left; bit<7> right; }

@controller_header("packet_in") @brief("To the controller")
header packet_in_h {
    bit<9> ingress_port;
    @id(4) @padding bit<7> unused;
    bit<16> reason;
}

@controller_header("packet_out") @id(0x1234)
header packet_out_h {
    port_t egress_port;
    @hidden bit<7> unused;
}

header unrelated_h { bit<8> x; }

struct headers_t { ethernet_h ethernet; }

struct learned_t {
    bit<48> src_addr;
    port_t  port;
    pair_t  pair;
    bool    known;
    error   fault;
    EtherType ether_type;
}

struct choice_t {
    @match(ternary) bit<16> ether_type;
    @id(5) @note bit<8> other;
    @match(lpm) bit<32> prefix;
}

struct metadata_t {
    bit<2> colour;
    port_t port;
}

parser PacketParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    value_set<bit<16>>(4) types;
    @id(0x03000001) value_set<choice_t>(8) choices;
    state start {
        packet.extract(hdr.ethernet);
        transition select((bit<16>)hdr.ethernet.ether_type) {
            types: accept;
            default: more;
        }
    }
    state more {
        transition select((bit<16>)hdr.ethernet.ether_type, 8w1, 32w2) {
            choices: accept;
            default: accept;
        }
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) { apply { } }
control Compute(inout headers_t hdr, inout metadata_t meta) { apply { } }

register<bit<48>>(16) shared;

control Inner(inout headers_t hdr, inout metadata_t meta) {
    @name("seen") register<bit<8>>(64) last;
    counter(2, CounterType.bytes) bytes;
    apply {
        last.write(0, 1);
        bytes.count(0);
    }
}

control MyIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    counter(512, CounterType.packets_and_bytes) both;
    @brief("Counted") @id(0x12000007) counter(1, CounterType.packets) packets;
    Inner() inner;
    meter(8, MeterType.bytes) rate;
    meter(1, MeterType.packets) per_packet;
    register<bool>(3) flags;
    register<pair_t>(2) pairs;
    register<port_t>(2) ports;
    register<tuple<bit<8>, bool>>(2) tuples;
    direct_counter(CounterType.packets) hits;
    direct_meter<bit<2>>(MeterType.bytes) limit;
    direct_counter(CounterType.bytes) attached_to_nothing;
    @max_group_size(16) action_selector(HashAlgorithm.crc16, 32w128, 32w10) members;
    action_profile(64) profile;

    action count() { both.count(1); packets.count(0); }
    action learn() {
        digest<learned_t>(1, { hdr.ethernet.src_addr, meta.port, { 1, 2 }, true, error.NoMatch, EtherType.arp });
    }
    action paint(Colour colour, EtherType ether_type, port_t port) {
        hdr.ethernet.ether_type = ether_type;
        meta.port = port;
    }

    table direct {
        key = { meta.port : exact; hdr.ethernet.ether_type : exact; }
        actions = { count; learn; @defaultonly NoAction; }
        meters = limit;
        counters = hits;
    }
    table one {
        key = { hdr.ethernet.dst_addr : exact; hdr.ethernet.src_addr : selector; }
        actions = { count; NoAction; }
        implementation = members;
    }
    table another {
        key = { hdr.ethernet.src_addr : exact; }
        actions = { count; NoAction; }
        implementation = profile;
    }
    table again {
        key = { hdr.ethernet.dst_addr : exact; }
        actions = { count; NoAction; }
        implementation = profile;
    }
    table in_place {
        key = { hdr.ethernet.dst_addr : selector; }
        actions = { paint; NoAction; }
        @name("made_here") @selector_size_semantics("sum_of_members") @max_member_weight(30)
        implementation = action_selector(HashAlgorithm.identity, 32w1024, 32w10);
    }
    apply {
        direct.apply();
        limit.read(meta.colour);
        one.apply();
        another.apply();
        again.apply();
        in_place.apply();
        inner.apply(hdr, meta);
        rate.execute_meter(0, meta.colour);
        digest(2, meta);
        digest<tuple<bit<48>, port_t>>(3, { hdr.ethernet.src_addr, meta.port });
        digest<tuple<bit<48>, bit<2>>>(3, { hdr.ethernet.dst_addr, meta.colour });
        shared.write(1, 2);
    }
}

control MyEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) { apply { } }
control MyDeparser(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }

V1Switch(PacketParser(), Verify(), MyIngress(), MyEgress(), Compute(), MyDeparser()) main;
