// A switch of a fabric: several shortest paths, and the marks AQT, DRAI and CI, or ECN for DCTCP.
// CI and ECN use the same field of the header: a port has at most one of them.

#include <core.p4>
#include <v1model.p4>

#include "../include/v1model/headers.p4"
#include "../include/v1model/types.p4"
#include "../controls/ci.p4"
#include "../controls/drai.p4"
#include "../controls/port_feedback.p4"
#include "../controls/v1model/aqt_option.p4"
#include "../controls/v1model/checksum.p4"
#include "../controls/v1model/departure.p4"
#include "../controls/v1model/ecmp_hop_ingress.p4"
#include "../controls/v1model/ecn.p4"
#include "../controls/v1model/egress_counters.p4"
#include "../controls/v1model/frame_deparser.p4"
#include "../controls/v1model/l4_parser.p4"
#include "../controls/v1model/queue_state.p4"
#include "../controls/v1model/rate_window.p4"

control HopEgress(inout headers_t hdr,
                  inout metadata_t meta,
                  inout standard_metadata_t standard_metadata) {
    Departure(queue_dequeued, queue_drop_mark) departure;
    PortFeedback() port_feedback;
    AqtOption() aqt;
    RateWindow() rate_window;
    Drai() drai;
    Ci() ci;
    Ecn() ecn;
    EgressCounters() counters;

    apply {
        bit<1> waited_at_refusal;
        bit<32> window_octets;
        feedback_t feedback;
        marked_t marked = { 0, 0, 0 };

        departure.apply(meta.place, waited_at_refusal);
        port_feedback.apply(standard_metadata.egress_port, feedback);
        if (feedback.aqt == 1) {
            aqt.apply(hdr.options, standard_metadata.deq_timedelta, marked.aqt);
        }
        if (feedback.drai == 1 && hdr.ipv4.isValid()) {
            rate_window.apply(standard_metadata.egress_port, hdr.ipv4.total_len,
                              standard_metadata.egress_global_timestamp,
                              feedback.window_log2, window_octets);
            drai.apply(hdr.options.avbw, standard_metadata.egress_port,
                       standard_metadata.deq_qdepth, window_octets, marked.drai);
        }
        if (hdr.ipv4.isValid() && meta.options_malformed == 0) {
            if (feedback.ci == 1) {
                ci.apply(hdr.ipv4, waited_at_refusal, marked.ci);
            } else {
                ecn.apply(hdr.ipv4, standard_metadata.egress_port, standard_metadata.enq_qdepth);
            }
        }
        counters.apply(standard_metadata.egress_port, marked);
    }
}

V1Switch(L4Parser(),
         VerifyIpv4Checksum(),
         HopIngress(),
         HopEgress(),
         UpdateIpv4Checksum(),
         FrameDeparser()) main;
