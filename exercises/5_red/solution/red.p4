// v1model: RED, random early detection (Floyd and Jacobson 1993), ahead of drop-tail admission.
// Each arrival updates the average, which does not decay while the queue is idle. An early drop
// causes no marks.

#ifndef WAYMARK_V1MODEL_RED_P4
#define WAYMARK_V1MODEL_RED_P4

// An average number of packets, with 16 fractional bits.
typedef bit<48> red_average_t;

const bit<8> RED_FRACTION_BITS = 16;

// A probability of 1, and twice that.
const bit<40> RED_CERTAIN = 1 << 16;
const bit<40> RED_OVERDUE = 1 << 17;

// Admission's registers, read only: occupancy is tail - dequeued.
control Red(in port_t port, in priority_t priority, inout drop_cause_t drop_cause)
           (register<sequence_t> tail, register<sequence_t> dequeued) {
    // Index: port and priority. Writer: average_occupancy, below.
    register<red_average_t>(QUEUES) red_average;
    // Index: port and priority. Writer: space_drops, below. Arrivals subject to early drop since the
    // last early drop, including the next one; 0: the last arrival was not subject to it.
    register<bit<16>>(QUEUES) red_run;

    bit<32> queue;
    sequence_t occupancy;
    red_average_t average;
    bit<17> spaced;

    // average += (occupancy - average) * 2^-w, computed so that it never falls below 0.
    action average_occupancy(bit<4> w) {
        sequence_t last_admitted;
        sequence_t last_dequeued;
        tail.read(last_admitted, queue);
        dequeued.read(last_dequeued, queue);
        occupancy = last_admitted - last_dequeued;
        red_average.read(average, queue);
        average = average - (average >> w) + ((occupancy << RED_FRACTION_BITS) >> w);
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

    // probability: in units of 2^-16.
    action drop_some(bit<16> probability) {
        bit<16> draw;
        random(draw, 0, 0xFFFF);
        drop_cause = draw < probability ? drop_cause_t.RED : drop_cause;
    }

    action drop_all() {
        drop_cause = drop_cause_t.RED;
    }

    // probability: of a drop, in units of 2^-16, on average over arrivals. The gaps between drops are
    // distributed uniformly from once to twice its inverse. A queue with at most one packet drops
    // nothing.
    action drop_spaced(bit<17> probability) {
        spaced = probability;
    }

    // Steps of rising probability from thmin to thmax, and certain drops above; none below.
    table red {
        key = {
            port    : exact @name("port");
            average : range @name("average");
        }
        actions = {
            drop_some;
            drop_all;
            drop_spaced;
            @defaultonly NoAction;
        }
        const default_action = NoAction();
        size = PORTS * 32;
    }

    // Once run p has reached 1, the probability is p / (2 - run p). The first arrival is not dropped.
    action space_drops() {
        bit<16> run;
        bit<16> draw;
        red_run.read(run, queue);
        random(draw, 0, 0xFFFF);
        bit<40> spent = (bit<40>) run * (bit<40>) spaced;
        bool drawn = spaced != 0 && occupancy > 1;
        bool due = spent >= RED_OVERDUE
            || (spent >= RED_CERTAIN
                && (bit<40>) draw * (RED_OVERDUE - spent) < (bit<40>) spaced << 16);
        bool early = drawn && run != 0 && due;
        drop_cause = early ? drop_cause_t.RED : drop_cause;
        bit<16> longer = run == 0 ? 16w2 : run |+| 1;
        bit<16> counted = early ? 16w1 : longer;
        red_run.write(queue, drawn ? counted : 0);
    }

    apply {
        queue = (bit<32>) (port ++ priority);
        occupancy = 0;
        average = 0;
        spaced = 0;
        if (red_weight.apply().hit) {
            red.apply();
            space_drops();
        }
    }
}

#endif
