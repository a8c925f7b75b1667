// plain.p4 and AQT: a packet carries the time it spent in queues.

#include <core.p4>
#include <v1model.p4>

#include "../include/v1model/headers.p4"
#include "../include/v1model/types.p4"
#include "../controls/port_feedback.p4"
#include "../controls/v1model/aqt_option.p4"
#include "../controls/v1model/checksum.p4"
#include "../controls/v1model/departure.p4"
#include "../controls/v1model/egress_counters.p4"
#include "../controls/v1model/frame_deparser.p4"
#include "../controls/v1model/hop_ingress.p4"
#include "../controls/v1model/parser.p4"
#include "../controls/v1model/queue_state.p4"

control HopEgress(inout headers_t hdr,
                  inout metadata_t meta,
                  inout standard_metadata_t standard_metadata) {
    Departure(queue_dequeued, queue_drop_mark) departure;
    PortFeedback() port_feedback;
    AqtOption() aqt;
    EgressCounters() counters;

    apply {
        bit<1> waited_at_refusal;
        feedback_t feedback;
        marked_t marked = { 0, 0, 0 };

        departure.apply(meta.place, waited_at_refusal);
        port_feedback.apply(standard_metadata.egress_port, feedback);
        if (feedback.aqt == 1) {
            aqt.apply(hdr.options, standard_metadata.deq_timedelta, marked.aqt);
        }
        counters.apply(standard_metadata.egress_port, marked);
    }
}

V1Switch(HopParser(),
         VerifyIpv4Checksum(),
         HopIngress(),
         HopEgress(),
         UpdateIpv4Checksum(),
         FrameDeparser()) main;
