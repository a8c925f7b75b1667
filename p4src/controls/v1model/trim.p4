// v1model: admission that trims packets. A packet that a full queue refuses is truncated and sent through a queue of
// its own, so that the receiver learns of the loss at once (SAI, packet trimming; Handley and others,
// SIGCOMM 2017, section 3).
//
// The length fields of a trimmed packet, in IPv4 and behind it, keep its original length.

#ifndef WAYMARK_V1MODEL_TRIM_P4
#define WAYMARK_V1MODEL_TRIM_P4

#include <v1model.p4>
#include "../../include/constants.p4"
#include "../../include/v1model/headers.p4"
#include "../../include/v1model/types.p4"
#include "admission.p4"

// The queue of trimmed packets, which has priority over the others.
const priority_t TRIMMED = 1;

// The result of table `trimming` for a packet.
enum bit<2> trimming_t {
    NONE      = 0,
    TRIMMABLE = 1,  // trimmed if its queue is full
    TRIMMED   = 2   // trimmed by an earlier hop
}

control Trim(inout ipv4_h ipv4,
             in port_t port,
             inout queue_place_t place,
             inout drop_cause_t drop_cause,
             inout standard_metadata_t standard_metadata)
            (register<sequence_t> tail,
             register<sequence_t> dequeued,
             register<sequence_t> drop_mark) {
    Admission(tail, dequeued, drop_mark) admission;

    // Index: egress port.
    counter(PORTS, CounterType.packets) trimmed;

    trimming_t kind = trimming_t.NONE;
    sequence_t most_trimmed = 0;
    bit<32>    cut_to = 0;
    bit<6>     trimmed_dscp = 0;

    // octets:      length of a trimmed packet with its Ethernet header; 78 keep every IPv4 header and tag. A shorter
    //              packet is not truncated.
    // dscp:        new DSCP of a trimmed packet.
    // max_waiting: limit of the port's queue of trimmed packets, 1 or more.
    action cut(bit<32> octets, bit<6> dscp, sequence_t max_waiting) {
        kind         = trimming_t.TRIMMABLE;
        cut_to       = octets;
        trimmed_dscp = dscp;
        most_trimmed = max_waiting;
    }

    action send_first(sequence_t max_waiting) {
        kind         = trimming_t.TRIMMED;
        most_trimmed = max_waiting;
    }

    table trimming {
        key = {
            port      : exact @name("port");
            ipv4.dscp : exact @name("dscp");
        }
        actions = {
            cut;
            send_first;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        size = 4096;
    }

    // One action, as in Admission.
    action admit_trimmed() {
        sequence_t last_admitted;
        sequence_t last_dequeued;
        bit<32> queue = (bit<32>) (port ++ TRIMMED);
        tail.read(last_admitted, queue);
        dequeued.read(last_dequeued, queue);
        if (last_admitted - last_dequeued < most_trimmed) {
            place.admitted = 1;
            place.queue    = queue;
            place.number   = last_admitted + 1;
            tail.write(queue, place.number);
            drop_cause = drop_cause_t.NONE;
        } else {
            drop_cause = drop_cause_t.QUEUE_FULL;
        }
    }

    apply {
        trimming.apply();
        if (kind != trimming_t.TRIMMED) {
            admission.apply(port, standard_metadata.priority, place, drop_cause);
        }
        if (kind == trimming_t.TRIMMED
                || (kind == trimming_t.TRIMMABLE && drop_cause == drop_cause_t.QUEUE_FULL)) {
            admit_trimmed();
            if (drop_cause == drop_cause_t.NONE) {
                standard_metadata.priority = TRIMMED;
                if (kind == trimming_t.TRIMMABLE) {
                    ipv4.dscp = trimmed_dscp;
                    truncate(cut_to);
                    trimmed.count((bit<32>) port);
                }
            }
        }
    }
}

#endif
