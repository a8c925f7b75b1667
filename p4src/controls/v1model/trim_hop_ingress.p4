// v1model: the ingress of a router whose full queues trim packets.

#ifndef WAYMARK_V1MODEL_TRIM_HOP_INGRESS_P4
#define WAYMARK_V1MODEL_TRIM_HOP_INGRESS_P4

#include <v1model.p4>
#include "../../include/v1model/headers.p4"
#include "../../include/v1model/types.p4"
#include "../forwarding.p4"
#include "../packet_io.p4"
#include "header_check.p4"
#include "queue_state.p4"
#include "trim.p4"
#include "verdict.p4"

control HopIngress(inout headers_t hdr,
                   inout metadata_t meta,
                   inout standard_metadata_t standard_metadata) {
    HeaderCheck() header_check;
    PacketIo() packet_io;
    Forwarding() forwarding;
    Trim(queue_tail, queue_dequeued, queue_drop_mark) trim;
    Verdict() verdict;

    apply {
        header_check.apply(meta, standard_metadata);
        if (meta.drop_cause == drop_cause_t.NONE) {
            if (hdr.packet_out.isValid() || !hdr.ipv4.isValid()) {
                packet_io.apply(hdr, meta, standard_metadata.ingress_port);
            } else {
                forwarding.apply(hdr, meta);
                if (meta.drop_cause == drop_cause_t.NONE) {
                    trim.apply(hdr.ipv4, meta.egress_port, meta.place, meta.drop_cause,
                               standard_metadata);
                }
            }
        }
        verdict.apply(meta, standard_metadata);
    }
}

#endif
