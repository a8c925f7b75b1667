// plain.p4 and TCP-INT: a TCP option carries the worst hop's utilisation or queue, and the sum of the hops' latencies.

#include <core.p4>
#include <v1model.p4>

#include "../include/v1model/headers.p4"
#include "../include/v1model/types.p4"
#include "../controls/v1model/checksum.p4"
#include "../controls/v1model/departure.p4"
#include "../controls/v1model/egress_counters.p4"
#include "../controls/v1model/hop_ingress.p4"
#include "../controls/v1model/queue_state.p4"
#include "../controls/v1model/tcp_int.p4"
#include "../controls/v1model/tcp_int_deparser.p4"
#include "../controls/v1model/tcp_int_parser.p4"

control HopEgress(inout headers_t hdr,
                  inout metadata_t meta,
                  inout standard_metadata_t standard_metadata) {
    Departure(queue_dequeued, queue_drop_mark) departure;
    TcpInt() tcp_int;
    EgressCounters() counters;

    apply {
        bit<1> waited_at_refusal;
        marked_t marked = { 0, 0, 0 };

        departure.apply(meta.place, waited_at_refusal);
        tcp_int.apply(hdr, meta.tcp_int_at_odd, standard_metadata.egress_port,
                      standard_metadata.egress_global_timestamp, standard_metadata.deq_timedelta);
        counters.apply(standard_metadata.egress_port, marked);
    }
}

V1Switch(TcpIntParser(),
         VerifyIpv4Checksum(),
         HopIngress(),
         HopEgress(),
         UpdateIpv4Checksum(),
         TcpIntDeparser()) main;
