// TNA: a packet that ends in egress, counted at the port that it was for: one that its queue refused
// (deflect on drop), or one that RED drops.

#ifndef WAYMARK_TNA_EGRESS_DROP_P4
#define WAYMARK_TNA_EGRESS_DROP_P4

#include "../../include/tna/headers.p4"
#include "../../include/tna/types.p4"

control EgressDrop(in port_t port,
                   in drop_cause_t cause,
                   inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    // Index: 8 * the port of the queue + drop_cause_t.
    Counter<bit<32>, bit<12>>(PORTS * 8, CounterType_t.PACKETS) queue_drops;

    apply {
        queue_drops.count(port ++ (bit<3>) cause);
        eg_dprsr_md.drop_ctl = 1;
    }
}

#endif
