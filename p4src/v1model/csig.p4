// plain.p4 and CSIG: a tag in front of IPv4 carries the worst hop's value of one signal, and which hop that is.

#include <core.p4>
#include <v1model.p4>

#include "../include/v1model/headers.p4"
#include "../include/v1model/types.p4"
#include "../controls/v1model/checksum.p4"
#include "../controls/v1model/csig.p4"
#include "../controls/v1model/csig_deparser.p4"
#include "../controls/v1model/csig_parser.p4"
#include "../controls/v1model/departure.p4"
#include "../controls/v1model/egress_counters.p4"
#include "../controls/v1model/hop_ingress.p4"
#include "../controls/v1model/queue_state.p4"

control HopEgress(inout headers_t hdr,
                  inout metadata_t meta,
                  inout standard_metadata_t standard_metadata) {
    Departure(queue_dequeued, queue_drop_mark) departure;
    Csig() csig;
    EgressCounters() counters;

    apply {
        bit<1> waited_at_refusal;
        marked_t marked = { 0, 0, 0 };

        departure.apply(meta.place, waited_at_refusal);
        csig.apply(hdr, meta, standard_metadata.ingress_port, standard_metadata.egress_port,
                   standard_metadata.egress_global_timestamp, standard_metadata.deq_timedelta);
        counters.apply(standard_metadata.egress_port, marked);
    }
}

V1Switch(CsigParser(),
         VerifyIpv4Checksum(),
         HopIngress(),
         HopEgress(),
         UpdateIpv4Checksum(),
         CsigDeparser()) main;
