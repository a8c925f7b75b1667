// A router with drop-tail queues and no marks: the base of the other programs.

#include <core.p4>
#include <v1model.p4>

#include "../include/constants.p4"
#include "../include/headers.p4"
#include "../controls/forwarding.p4"
#include "../controls/frame_deparser.p4"
#include "../controls/packet_io.p4"
#include "../controls/v1model/admission.p4"
#include "../controls/v1model/checksum.p4"
#include "../controls/v1model/departure.p4"
#include "../controls/v1model/egress_counters.p4"
#include "../controls/v1model/header_check.p4"
#include "../controls/v1model/parser.p4"
#include "../controls/v1model/verdict.p4"

// Index: port and priority. Contents and writers: admission.p4.
register<sequence_t>(QUEUES) queue_tail;
register<sequence_t>(QUEUES) queue_dequeued;
register<sequence_t>(QUEUES) queue_drop_mark;

control HopIngress(inout headers_t hdr,
                   inout metadata_t meta,
                   inout standard_metadata_t standard_metadata) {
    HeaderCheck() header_check;
    PacketIo() packet_io;
    Forwarding() forwarding;
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

control HopEgress(inout headers_t hdr,
                  inout metadata_t meta,
                  inout standard_metadata_t standard_metadata) {
    Departure(queue_dequeued, queue_drop_mark) departure;
    EgressCounters() counters;

    apply {
        bit<1> waited_at_refusal;
        marked_t marked = { 0, 0, 0 };

        departure.apply(meta.place, waited_at_refusal);
        counters.apply(standard_metadata.egress_port, marked);
    }
}

V1Switch(HopParser(),
         VerifyIpv4Checksum(),
         HopIngress(),
         HopEgress(),
         UpdateIpv4Checksum(),
         FrameDeparser()) main;
