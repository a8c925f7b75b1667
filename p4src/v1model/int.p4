// plain.p4 and in-band network telemetry (INT 2.1, INT-MD): source, transit and sink by table entries. HPCC's record of
// queue, time, octets sent and rate is a domain's set of instructions.

#include <core.p4>
#include <v1model.p4>

#include "../include/v1model/int.p4"
#include "../controls/v1model/checksum.p4"
#include "../controls/v1model/departure.p4"
#include "../controls/v1model/egress_counters.p4"
#include "../controls/v1model/frame_deparser.p4"
#include "../controls/v1model/hop_ingress.p4"
#include "../controls/v1model/int_hop.p4"
#include "../controls/v1model/int_octets.p4"
#include "../controls/v1model/int_parser.p4"
#include "../controls/v1model/queue_state.p4"

control VerifyIntChecksum(inout int_headers_t hdr, inout int_metadata_t meta) {
    VerifyIpv4Checksum() ipv4;

    apply {
        ipv4.apply(hdr.hop, meta.hop);
    }
}

control IntIngress(inout int_headers_t hdr,
                   inout int_metadata_t meta,
                   inout standard_metadata_t standard_metadata) {
    HopIngress() hop_ingress;
    IntArrival(int_admitted_octets) arrival;

    apply {
        hop_ingress.apply(hdr.hop, meta.hop, standard_metadata);
        if (meta.hop.place.admitted == 1) {
            arrival.apply(meta.hop.place, hdr.hop.ipv4.total_len, meta.admitted_octets);
        }
    }
}

control IntEgress(inout int_headers_t hdr,
                  inout int_metadata_t meta,
                  inout standard_metadata_t standard_metadata) {
    Departure(queue_dequeued, queue_drop_mark) departure;
    IntHop(int_admitted_octets, int_sent_octets) telemetry;
    EgressCounters() counters;

    apply {
        bit<1> waited_at_refusal;
        marked_t marked = { 0, 0, 0 };

        departure.apply(meta.hop.place, waited_at_refusal);
        if (meta.hop.place.admitted == 1) {
            telemetry.apply(hdr, meta, standard_metadata);
        }
        counters.apply(standard_metadata.egress_port, marked);
    }
}

control UpdateIntChecksum(inout int_headers_t hdr, inout int_metadata_t meta) {
    UpdateIpv4Checksum() ipv4;

    apply {
        ipv4.apply(hdr.hop, meta.hop);
    }
}

control IntDeparser(packet_out packet, in int_headers_t hdr) {
    FrameDeparser() frame;

    apply {
        frame.apply(packet, hdr.hop);
        packet.emit(hdr.telemetry);
    }
}

V1Switch(IntParser(),
         VerifyIntChecksum(),
         IntIngress(),
         IntEgress(),
         UpdateIntChecksum(),
         IntDeparser()) main;
