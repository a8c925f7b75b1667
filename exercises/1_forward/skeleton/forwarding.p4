// IPv4 forwarding (RFC 1812, 5.2 and 5.3): TTL, route to a next hop, next hop to MAC addresses.
// router.p4 includes this file; its headers are in p4src/include/headers.p4.

#ifndef WAYMARK_FORWARDING_P4
#define WAYMARK_FORWARDING_P4

control Forwarding(inout headers_t hdr, inout metadata_t meta) {
    action no_route() {
        meta.drop_cause = drop_cause_t.NO_ROUTE;
    }

    // The destination itself is a neighbour.
    action direct(port_t port) {
        meta.egress_port = port;
        meta.next_hop    = hdr.ipv4.dst_addr;
    }

    // The destination is behind the router next_hop.
    action via(port_t port, ipv4_addr_t next_hop) {
        meta.egress_port = port;
        // TODO 3: which address does `neighbour` have to look up?
        meta.next_hop    = hdr.ipv4.dst_addr;
    }

    table ipv4_route {
        key = {
            hdr.ipv4.dst_addr : lpm @name("dst_addr");
        }
        actions = {
            direct;
            via;
            no_route;
        }
        const default_action = no_route();
        size = 1024;
    }

    action rewrite(mac_addr_t src_addr, mac_addr_t dst_addr) {
        // TODO 2: write both addresses into the frame.
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
        // TODO 1: a packet with TTL 0 or 1 ends here: set meta.drop_cause to drop_cause_t.TTL, and
        // leave the control. The TTL of any other packet falls by 1.

        ipv4_route.apply();
        if (meta.drop_cause == drop_cause_t.NONE) {
            neighbour.apply();
        }
    }
}

#endif
