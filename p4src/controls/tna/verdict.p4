// TNA: the end of ingress. Each packet is counted once, and sent or dropped. A packet that its queue
// refuses goes through egress by the port for deflected packets.

#ifndef WAYMARK_TNA_VERDICT_P4
#define WAYMARK_TNA_VERDICT_P4

#include "../../include/tna/headers.p4"
#include "../../include/tna/types.p4"

control Verdict(inout headers_t hdr,
                in metadata_t meta,
                in port_t came_by,
                in bit<48> arrived_ns,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    // Index: the port a packet came by.
    Counter<bit<32>, port_t>(PORTS, CounterType_t.PACKETS_AND_BYTES) received;

    // Index: 8 * the port it came by + drop_cause_t. queue_drops has the causes of egress.
    Counter<bit<32>, bit<12>>(PORTS * 8, CounterType_t.PACKETS) drops;

    action send() {
        hdr.bridged.setValid();
        hdr.bridged.arrived   = arrived_ns[39:8] + (PIPELINE_TICKS - ROUNDING_TICKS);
        hdr.bridged.came_by   = came_by;
        hdr.bridged.opaque    = 1;
        hdr.bridged.leaves_by = meta.egress_port;
        ig_tm_md.ucast_egress_port = meta.egress_port;
        ig_tm_md.deflect_on_drop   = 1;
    }

    apply {
        received.count(came_by);
        if (meta.drop_cause == drop_cause_t.NONE) {
            send();
            if (hdr.ipv4.isValid()) {
                hdr.bridged.opaque = 0;
            }
        } else {
            drops.count(came_by ++ (bit<3>) meta.drop_cause);
            ig_dprsr_md.drop_ctl = 1;
        }
    }
}

#endif
