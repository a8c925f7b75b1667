// Packets to and from the controller, and all packets that are not IPv4.

#ifndef WAYMARK_PACKET_IO_P4
#define WAYMARK_PACKET_IO_P4

#include "../include/constants.p4"
#include "../include/headers.p4"

control PacketIo(inout headers_t hdr, inout metadata_t meta, in port_t ingress_port) {
    action send_to_cpu() {
        meta.egress_port = CPU_PORT;
        hdr.packet_in.setValid();
        hdr.packet_in.ingress_port = ingress_port;
        hdr.packet_in.padding      = 0;
    }

    action not_punted() {
        meta.drop_cause = drop_cause_t.NO_ROUTE;
    }

    // The controller's setting `cpu_port` is an entry for ARP here.
    table punt {
        key = {
            meta.ether_type : exact @name("ether_type");
        }
        actions = {
            send_to_cpu;
            @defaultonly not_punted;
        }
        const default_action = not_punted();
        size = 16;
    }

    apply {
        if (hdr.packet_out.isValid()) {
            meta.egress_port = hdr.packet_out.egress_port;
        } else {
            punt.apply();
        }
    }
}

#endif
