// l4s.p4 with its second queue for senders that read AQT: a packet with the AQT option waits in the low-latency queue,
// and its hops' queueing times are added there. DualPI2 drops such packets as often as it would mark L4S packets.

#include <core.p4>
#include <v1model.p4>

#include "../../p4src/include/v1model/headers.p4"
#include "../../p4src/include/v1model/types.p4"
#include "../../p4src/controls/v1model/aqt_option.p4"
#include "../../p4src/controls/v1model/checksum.p4"
#include "../../p4src/controls/v1model/departure.p4"
#include "../../p4src/controls/v1model/dual_pi2.p4"
#include "../../p4src/controls/v1model/egress_counters.p4"
#include "../../p4src/controls/v1model/frame_deparser.p4"
#include "../../p4src/controls/v1model/hop_ingress.p4"
#include "../../p4src/controls/v1model/parser.p4"
#include "../../p4src/controls/v1model/queue_state.p4"

control AqtIngress(inout headers_t hdr,
                   inout metadata_t meta,
                   inout standard_metadata_t standard_metadata) {
    HopIngress() hop_ingress;

    apply {
        if (hdr.options.aqt0.isValid() || hdr.options.aqt1.isValid()) {
            standard_metadata.priority = LOW_LATENCY;
        }
        hop_ingress.apply(hdr, meta, standard_metadata);
    }
}

control AqtEgress(inout headers_t hdr,
                  inout metadata_t meta,
                  inout standard_metadata_t standard_metadata) {
    Departure(queue_dequeued, queue_drop_mark) departure;
    DualPi2(queue_tail, queue_dequeued) dual_pi2;
    AqtOption() aqt;
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
            aqt.apply(hdr.options, standard_metadata.deq_timedelta, marked.aqt);
            counters.apply(standard_metadata.egress_port, marked);
        }
    }
}

V1Switch(HopParser(),
         VerifyIpv4Checksum(),
         AqtIngress(),
         AqtEgress(),
         UpdateIpv4Checksum(),
         FrameDeparser()) main;
