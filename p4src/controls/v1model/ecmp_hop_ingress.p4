// v1model: hop_ingress.p4 with several next hops per route.

#ifndef WAYMARK_V1MODEL_ECMP_HOP_INGRESS_P4
#define WAYMARK_V1MODEL_ECMP_HOP_INGRESS_P4

#include <v1model.p4>
#include "../../include/v1model/headers.p4"
#include "../../include/v1model/types.p4"
#include "../packet_io.p4"
#include "admission.p4"
#include "ecmp_forwarding.p4"
#include "header_check.p4"
#include "queue_state.p4"
#include "verdict.p4"

control HopIngress(inout headers_t hdr,
                   inout metadata_t meta,
                   inout standard_metadata_t standard_metadata) {
    HeaderCheck() header_check;
    PacketIo() packet_io;
    EcmpForwarding() forwarding;
    Admission(queue_tail, queue_dequeued, queue_drop_mark) admission;
    Verdict() verdict;

    apply {
        header_check.apply(meta, standard_metadata);
        if (meta.drop_cause == drop_cause_t.NONE) {
            if (hdr.packet_out.isValid() || !hdr.ipv4.isValid()) {
                packet_io.apply(hdr, meta, standard_metadata.ingress_port);
            } else {
                forwarding.apply(hdr, meta);
                if (meta.drop_cause == drop_cause_t.NONE) {
                    admission.apply(meta.egress_port, standard_metadata.priority,
                                    meta.place, meta.drop_cause);
                }
            }
        }
        verdict.apply(meta, standard_metadata);
    }
}

#endif
