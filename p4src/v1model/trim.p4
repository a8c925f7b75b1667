// ecn.p4 and packet trimming: what a full queue refuses is sent without its payload, in a separate queue.

#include <core.p4>
#include <v1model.p4>

#include "../include/v1model/headers.p4"
#include "../include/v1model/types.p4"
#include "../controls/v1model/checksum.p4"
#include "../controls/v1model/departure.p4"
#include "../controls/v1model/ecn.p4"
#include "../controls/v1model/egress_counters.p4"
#include "../controls/v1model/frame_deparser.p4"
#include "../controls/v1model/parser.p4"
#include "../controls/v1model/queue_state.p4"
#include "../controls/v1model/trim_hop_ingress.p4"

control HopEgress(inout headers_t hdr,
                  inout metadata_t meta,
                  inout standard_metadata_t standard_metadata) {
    Departure(queue_dequeued, queue_drop_mark) departure;
    Ecn() ecn;
    EgressCounters() counters;

    apply {
        bit<1> waited_at_refusal;
        marked_t marked = { 0, 0, 0 };

        departure.apply(meta.place, waited_at_refusal);
        if (hdr.ipv4.isValid() && meta.options_malformed == 0) {
            ecn.apply(hdr.ipv4, standard_metadata.egress_port, standard_metadata.enq_qdepth);
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
