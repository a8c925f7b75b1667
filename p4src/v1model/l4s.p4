// plain.p4 and L4S (RFC 9330): two queues at each port, one for scalable senders, coupled by DualPI2 (RFC 9332).
// The traffic manager serves both by their weights.

#include <core.p4>
#include <v1model.p4>

#include "../include/ecn.p4"
#include "../include/v1model/headers.p4"
#include "../include/v1model/types.p4"
#include "../controls/v1model/checksum.p4"
#include "../controls/v1model/departure.p4"
#include "../controls/v1model/dual_pi2.p4"
#include "../controls/v1model/egress_counters.p4"
#include "../controls/v1model/frame_deparser.p4"
#include "../controls/v1model/hop_ingress.p4"
#include "../controls/v1model/parser.p4"
#include "../controls/v1model/queue_state.p4"

// RFC 9331, section 5.1: ECT(1) and CE are L4S.
control L4sIngress(inout headers_t hdr,
                   inout metadata_t meta,
                   inout standard_metadata_t standard_metadata) {
    HopIngress() hop_ingress;

    apply {
        if (hdr.ipv4.isValid() && (hdr.ipv4.ecn & ECN_L4S) == ECN_L4S) {
            standard_metadata.priority = LOW_LATENCY;
        }
        hop_ingress.apply(hdr, meta, standard_metadata);
    }
}

control L4sEgress(inout headers_t hdr,
                  inout metadata_t meta,
                  inout standard_metadata_t standard_metadata) {
    Departure(queue_dequeued, queue_drop_mark) departure;
    DualPi2(queue_tail, queue_dequeued) dual_pi2;
    EgressCounters() counters;

    apply {
        bit<1> waited_at_refusal;
        bit<1> refused = 0;
        marked_t marked = { 0, 0, 0 };

        departure.apply(meta.place, waited_at_refusal);
        if (hdr.ipv4.isValid() && meta.place.admitted == 1) {
            dual_pi2.apply(hdr.ipv4, standard_metadata.egress_port, standard_metadata.priority,
                           standard_metadata.egress_global_timestamp,
                           standard_metadata.deq_timedelta, refused);
        }
        if (refused == 1) {
            mark_to_drop(standard_metadata);
        } else {
            counters.apply(standard_metadata.egress_port, marked);
        }
    }
}

V1Switch(HopParser(),
         VerifyIpv4Checksum(),
         L4sIngress(),
         L4sEgress(),
         UpdateIpv4Checksum(),
         FrameDeparser()) main;
