// A PSA program that forwards by one table, and counts: tests/test_psa.py.

#include <core.p4>
#include <psa.p4>

header ethernet_h { bit<48> dst_addr; bit<48> src_addr; bit<16> ether_type; }
header ipv4_h {
    bit<64> first; bit<8> ttl; bit<8> protocol; bit<16> checksum;
    bit<32> src_addr; bit<32> dst_addr;
}
struct headers_t { ethernet_h ethernet; ipv4_h ipv4; }
struct empty_t { }

parser InParser(packet_in packet, out headers_t hdr, inout empty_t meta,
                in psa_ingress_parser_input_metadata_t istd, in empty_t r, in empty_t c) {
    state start {
        packet.extract(hdr.ethernet);
        packet.extract(hdr.ipv4);
        transition accept;
    }
}

control In(inout headers_t hdr, inout empty_t meta,
           in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
    Counter<bit<48>, PortId_t>(512, PSA_CounterType_t.PACKETS_AND_BYTES) seen;
    DirectCounter<bit<48>>(PSA_CounterType_t.PACKETS) routed;
    action forward(PortId_t port) { routed.count(); send_to_port(ostd, port); }
    action drop() { routed.count(); ingress_drop(ostd); }
    table route {
        key = { hdr.ipv4.dst_addr : lpm @name("dst_addr"); }
        actions = { forward; drop; @defaultonly NoAction; }
        default_action = drop();
        psa_direct_counter = routed;
    }
    apply {
        seen.count(istd.ingress_port);
        route.apply();
    }
}

control InDeparser(packet_out packet, out empty_t c, out empty_t r, out empty_t n,
                   inout headers_t hdr, in empty_t meta, in psa_ingress_output_metadata_t ostd) {
    apply { packet.emit(hdr); }
}

parser OutParser(packet_in packet, out headers_t hdr, inout empty_t meta,
                 in psa_egress_parser_input_metadata_t istd,
                 in empty_t n, in empty_t c, in empty_t d) {
    state start { transition accept; }
}

control Out(inout headers_t hdr, inout empty_t meta,
            in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
    Register<bit<32>, PortId_t>(512) sent;
    apply {
        sent.write(istd.egress_port, sent.read(istd.egress_port) + 1);
    }
}

control OutDeparser(packet_out packet, out empty_t c, out empty_t r, inout headers_t hdr,
                    in empty_t meta, in psa_egress_output_metadata_t ostd,
                    in psa_egress_deparser_input_metadata_t dstd) {
    apply { packet.emit(hdr); }
}

IngressPipeline(InParser(), In(), InDeparser()) ip;
EgressPipeline(OutParser(), Out(), OutDeparser()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
