// An IPv4 router that writes the longest queue of a packet's path into the packet.

#include <core.p4>
#include <v1model.p4>
#include <include/constants.p4>
#include <include/headers.p4>
#include <controls/v1model/admission.p4>
#include <controls/v1model/departure.p4>
#include <controls/v1model/header_check.p4>
#include <controls/v1model/queue_state.p4>
#include <controls/v1model/verdict.p4>

const bit<16> PEAK = 0x9E06;  // type and length

header peak_h {
    bit<8>  option_type;  // 0x9e
    bit<8>  length;       // 6
    bit<16> depth;
    bit<16> depth_echo;
}

struct peak_headers_t {
    ethernet_h   ethernet;
    ipv4_h       ipv4;
    peak_h       peak;
    option_run_h rest;  // other options, and padding
}

parser PeakParser(packet_in packet,
                  out peak_headers_t hdr,
                  inout metadata_t meta,
                  inout standard_metadata_t standard_metadata) {
    bit<32> rest_bits;

    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHER_TYPE_IPV4 : ipv4;
            default         : accept;
        }
    }

    state ipv4 {
        packet.extract(hdr.ipv4);
        verify(hdr.ipv4.ihl >= 5, error.HeaderTooShort);
        rest_bits = ((bit<32>) hdr.ipv4.ihl - 5) << 5;
        transition select(hdr.ipv4.ihl) {
            5       : accept;
            6       : rest;  // too short for PEAK
            default : first_option;
        }
    }

    state first_option {
        transition select(packet.lookahead<bit<16>>()) {
            PEAK    : peak;
            default : rest;
        }
    }

    state peak {
        packet.extract(hdr.peak);
        rest_bits = rest_bits - 48;
        transition rest;
    }

    state rest {
        packet.extract(hdr.rest, rest_bits);
        transition accept;
    }
}

control PeakIngress(inout peak_headers_t hdr,
                    inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    HeaderCheck() header_check;
    Admission(queue_tail, queue_dequeued, queue_drop_mark) admission;
    Verdict() verdict;

    action no_route() {
        meta.drop_cause = drop_cause_t.NO_ROUTE;
    }

    action direct(port_t port) {
        meta.egress_port = port;
        meta.next_hop    = hdr.ipv4.dst_addr;
    }

    action via(port_t port, ipv4_addr_t next_hop) {
        meta.egress_port = port;
        meta.next_hop    = next_hop;
    }

    table ipv4_route {
        key = { hdr.ipv4.dst_addr : lpm @name("dst_addr"); }
        actions = { direct; via; no_route; }
        default_action = no_route();
    }

    action rewrite(mac_addr_t src_addr, mac_addr_t dst_addr) {
        hdr.ethernet.src_addr = src_addr;
        hdr.ethernet.dst_addr = dst_addr;
    }

    table neighbour {
        key = {
            meta.egress_port : exact @name("port");
            meta.next_hop    : exact @name("next_hop");
        }
        actions = { rewrite; no_route; }
        default_action = no_route();
    }

    apply {
        header_check.apply(meta, standard_metadata);
        if (!hdr.ipv4.isValid() || hdr.ipv4.ttl <= 1) {
            no_route();
        }
        if (meta.drop_cause == drop_cause_t.NONE) {
            hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
            ipv4_route.apply();
        }
        if (meta.drop_cause == drop_cause_t.NONE) {
            neighbour.apply();
        }
        if (meta.drop_cause == drop_cause_t.NONE) {
            admission.apply(meta.egress_port, standard_metadata.priority,
                            meta.place, meta.drop_cause);
        }
        verdict.apply(meta, standard_metadata);
    }
}

control PeakEgress(inout peak_headers_t hdr,
                   inout metadata_t meta,
                   inout standard_metadata_t standard_metadata) {
    Departure(queue_dequeued, queue_drop_mark) departure;

    apply {
        bit<1> waited_at_refusal;
        bit<16> depth = (bit<16>) standard_metadata.enq_qdepth;

        departure.apply(meta.place, waited_at_refusal);
        if (hdr.peak.isValid() && hdr.peak.depth < depth) {
            hdr.peak.depth = depth;
        }
    }
}

control VerifyPeakChecksum(inout peak_headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len,
              hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl,
              hdr.ipv4.protocol, hdr.ipv4.src_addr, hdr.ipv4.dst_addr,
              hdr.peak.option_type, hdr.peak.length, hdr.peak.depth, hdr.peak.depth_echo,
              hdr.rest.octets },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control UpdatePeakChecksum(inout peak_headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len,
              hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl,
              hdr.ipv4.protocol, hdr.ipv4.src_addr, hdr.ipv4.dst_addr,
              hdr.peak.option_type, hdr.peak.length, hdr.peak.depth, hdr.peak.depth_echo,
              hdr.rest.octets },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control PeakDeparser(packet_out packet, in peak_headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.peak);
        packet.emit(hdr.rest);
    }
}

V1Switch(PeakParser(), VerifyPeakChecksum(), PeakIngress(), PeakEgress(),
         UpdatePeakChecksum(), PeakDeparser()) main;
