// v1model: RED, random early detection (Floyd and Jacobson 1993), ahead of drop-tail admission.
// Each arrival takes part in the average and is drawn for by itself: without the paper's count
// between drops and its decay while the queue is idle. An early drop marks nothing.

#ifndef WAYMARK_V1MODEL_RED_P4
#define WAYMARK_V1MODEL_RED_P4

#include <v1model.p4>
#include "../../include/constants.p4"
#include "../../include/types.p4"

// A mean number of packets, 16 of its bits behind the point.
typedef bit<48> red_average_t;

const bit<8> RED_FRACTION_BITS = 16;

// Admission's registers, to read: occupancy is tail - dequeued.
control Red(in port_t port, in priority_t priority, inout drop_cause_t drop_cause)
           (register<sequence_t> tail, register<sequence_t> dequeued) {
    // Index: port and priority. Writer: average_occupancy, below.
    register<red_average_t>(QUEUES) red_average;

    red_average_t average;

    // average += (occupancy - average) * 2^-w, which here never falls below 0.
    action average_occupancy(bit<4> w) {
        bit<32> queue = (bit<32>) (port ++ priority);
        sequence_t last_admitted;
        sequence_t last_dequeued;
        tail.read(last_admitted, queue);
        dequeued.read(last_dequeued, queue);
        red_average_t occupancy = (last_admitted - last_dequeued) << RED_FRACTION_BITS;
        red_average.read(average, queue);
        average = average - (average >> w) + (occupancy >> w);
        red_average.write(queue, average);
    }

    // A port without an entry has no RED.
    table red_weight {
        key = {
            port : exact @name("port");
        }
        actions = {
            average_occupancy;
            @defaultonly NoAction;
        }
        const default_action = NoAction();
        size = PORTS;
    }

    // probability: in 2^16ths.
    action drop_some(bit<16> probability) {
        bit<16> draw;
        random(draw, 0, 0xFFFF);
        drop_cause = draw < probability ? drop_cause_t.RED : drop_cause;
    }

    action drop_all() {
        drop_cause = drop_cause_t.RED;
    }

    // Steps of rising probability from thmin to thmax, and drop_all above; none below.
    table red {
        key = {
            port    : exact @name("port");
            average : range @name("average");
        }
        actions = {
            drop_some;
            drop_all;
            @defaultonly NoAction;
        }
        const default_action = NoAction();
        size = PORTS * 32;
    }

    apply {
        average = 0;
        if (red_weight.apply().hit) {
            red.apply();
        }
    }
}

#endif
