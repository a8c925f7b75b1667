// The program of r2. Do not read it before you have found the faults.

#include <core.p4>
#include <v1model.p4>

#include "include/v1model/headers.p4"
#include "include/v1model/types.p4"
#include "controls/v1model/checksum.p4"
#include "controls/v1model/departure.p4"
#include "controls/v1model/egress_counters.p4"
#include "controls/v1model/frame_deparser.p4"
#define WAYMARK_V1MODEL_ADMISSION_P4
control Admission(in port_t port,
                  in priority_t priority,
                  inout queue_place_t place,
                  inout drop_cause_t drop_cause)
                 (register<sequence_t> tail,
                  register<sequence_t> dequeued,
                  register<sequence_t> drop_mark) {
    action drop_tail(sequence_t max_waiting) {
        sequence_t last_admitted;
        sequence_t last_dequeued;
        place.queue = (bit<32>) (port ++ priority);
        tail.read(last_admitted, place.queue);
        dequeued.read(last_dequeued, place.queue);
        if (last_admitted - last_dequeued >= max_waiting >> 3) {
            drop_mark.write(place.queue, last_admitted);
            drop_cause = drop_cause_t.QUEUE_FULL;
        } else {
            place.admitted = 1;
            place.number   = last_admitted + 1;
            tail.write(place.queue, place.number);
        }
    }

    table port_queue {
        key = {
            port : exact @name("port");
        }
        actions = {
            drop_tail;
        }
        default_action = drop_tail(UNLIMITED);
        size = PORTS;
    }

    apply {
        port_queue.apply();
    }
}

#include "controls/v1model/hop_ingress.p4"
#include "controls/v1model/parser.p4"
#include "controls/v1model/queue_state.p4"

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
