// v1model: forwarding.p4 with several next hops per route (ECMP). A flow, by its addresses, protocol and ports,
// keeps to one of them (RFC 2992).

#ifndef WAYMARK_V1MODEL_ECMP_FORWARDING_P4
#define WAYMARK_V1MODEL_ECMP_FORWARDING_P4

#include <v1model.p4>
#include "../../include/v1model/headers.p4"
#include "../../include/v1model/types.p4"

// Next hops of all routes together.
const bit<32> ECMP_MEMBERS = 16384;

// Knuth's multiplier, 2^32 divided by the golden ratio.
const bit<32> SPREAD = 0x9E3779B1;

control EcmpForwarding(inout headers_t hdr, inout metadata_t meta) {
    bit<16> path = 0;  // selects one of the next hops

    action no_route() {
        meta.drop_cause = drop_cause_t.NO_ROUTE;
    }

    // The destination itself is a neighbour.
    action direct(port_t port) {
        meta.egress_port = port;
        meta.next_hop    = hdr.ipv4.dst_addr;
    }

    action via(port_t port, ipv4_addr_t next_hop) {
        meta.egress_port = port;
        meta.next_hop    = next_hop;
    }

    // CRCs are linear: a CRC with a seed per switch would make the choices of two switches on a path equal or
    // opposite for all flows. A multiplier that follows from the address of the port where the packet arrived
    // makes them independent.
    action choose_path() {
        bit<32> flow;
        hash(flow, HashAlgorithm.crc32, 64w0,
             { hdr.ipv4.src_addr, hdr.ipv4.dst_addr, hdr.ipv4.protocol, meta.l4_ports }, 64w0x100000000);
        flow = flow * ((hdr.ethernet.dst_addr[31:0] * SPREAD) | 1);
        path = flow[31:16];
    }

    @max_group_size(256)
    action_selector(HashAlgorithm.identity, ECMP_MEMBERS, 16) next_hops;

    table ecmp_route {
        key = {
            hdr.ipv4.dst_addr : lpm @name("dst_addr");
            path              : selector;
        }
        actions = {
            direct;
            via;
            no_route;
        }
        const default_action = no_route();
        implementation = next_hops;
        size = 16384;
    }

    action rewrite(mac_addr_t src_addr, mac_addr_t dst_addr) {
        hdr.ethernet.src_addr = src_addr;
        hdr.ethernet.dst_addr = dst_addr;
    }

    // Static entries: this program does not answer ARP.
    table neighbour {
        key = {
            meta.egress_port : exact @name("port");
            meta.next_hop    : exact @name("next_hop");
        }
        actions = {
            rewrite;
            @defaultonly no_route;
        }
        const default_action = no_route();
        size = 1024;
    }

    apply {
        if (hdr.ipv4.ttl <= 1) {
            meta.drop_cause = drop_cause_t.TTL;
            return;
        }
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
        choose_path();
        ecmp_route.apply();
        if (meta.drop_cause == drop_cause_t.NONE) {
            neighbour.apply();
        }
    }
}

#endif
