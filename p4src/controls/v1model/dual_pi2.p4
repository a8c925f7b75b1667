// v1model: DualPI2 (RFC 9332), the coupled queue management of L4S. One controller holds the queueing of
// both queues of a port at a target. Its probability p acts on Classic packets as p^2, and on L4S packets
// as coupling * p, so that a flow of either kind gets about the same rate.

#ifndef WAYMARK_V1MODEL_DUAL_PI2_P4
#define WAYMARK_V1MODEL_DUAL_PI2_P4

#include <v1model.p4>
#include "../../include/constants.p4"
#include "../../include/ecn.p4"
#include "../../include/headers.p4"
#include "../../include/v1model/types.p4"

// The two queues of a port, by their priority.
const priority_t CLASSIC     = 0;
const priority_t LOW_LATENCY = 1;

// A probability, in units of 2^-32.
typedef bit<32> probability_t;

const bit<40> DUAL_PI2_CERTAIN = 1 << 32;
const int<64> DUAL_PI2_MAX     = 0xFFFFFFFF;

// This many missed updates reduce any probability to 0.
const bit<48> DUAL_PI2_MOST_MISSED = 0xFFFF;

// Admission's registers, read only: a queue's occupancy is tail - dequeued.
control DualPi2(inout ipv4_h ipv4,
                in port_t port,
                in priority_t priority,
                in bit<48> now_us,
                in bit<32> waited_us,
                out bit<1> refused)
               (register<sequence_t> tail, register<sequence_t> dequeued) {
    // Index: port and priority. Writer: control_queueing, below: how long the last packet waited, in µs, and when it left.
    register<bit<32>>(QUEUES) dual_pi2_waited;
    register<bit<48>>(QUEUES) dual_pi2_left;

    // Index: port. Writer: control_queueing, below: the number of the interval of the last update, the queueing
    // time then, in µs, and p.
    register<bit<48>>(PORTS) dual_pi2_interval;
    register<bit<32>>(PORTS) dual_pi2_queueing;
    register<probability_t>(PORTS) dual_pi2_probability;

    // Index: port and priority.
    counter(QUEUES, CounterType.packets) dual_pi2_marked;
    counter(QUEUES, CounterType.packets) dual_pi2_dropped;

    probability_t p;
    bit<40> coupled;
    bit<1>  beyond_step;
    bit<48> waiting;

    // Updates p at the first packet of each interval, as dualpi2_update of RFC 9332 (appendix A.1) does
    // by a timer.
    //
    // target, step:  µs. L4S packets that waited longer than step are marked.
    // interval_log2: p is updated every 2^interval_log2 µs.
    // alpha, beta:   increase of p per µs of queueing beyond the target, and per µs by which queueing grew;
    //                units of 2^-32.
    action control_queueing(bit<32> target,
                            bit<6> interval_log2,
                            bit<16> alpha,
                            bit<16> beta,
                            bit<8> coupling,
                            bit<32> step) {
        bit<32> own   = (bit<32>) (port ++ priority);
        bit<32> other = own ^ 1;

        // The longer queueing time counts. One that was measured more than an interval ago is ignored.
        bit<32> other_waited;
        bit<48> other_left;
        dual_pi2_waited.read(other_waited, other);
        dual_pi2_left.read(other_left, other);
        dual_pi2_waited.write(own, waited_us);
        dual_pi2_left.write(own, now_us);
        bool recent = (now_us - other_left) >> interval_log2 == 0;
        bit<32> queueing = recent && other_waited > waited_us ? other_waited : waited_us;

        bit<48> interval = now_us >> interval_log2;
        bit<48> last_interval;
        bit<32> last_queueing;
        dual_pi2_interval.read(last_interval, (bit<32>) port);
        dual_pi2_queueing.read(last_queueing, (bit<32>) port);
        dual_pi2_probability.read(p, (bit<32>) port);
        bit<48> due = interval - last_interval;

        // If no packet left for longer than this packet waited, the queues were empty in between, and the
        // updates that were missed had no queueing.
        bool idle = due > 1 && waited_us >> interval_log2 == 0;
        bit<48> missed = idle ? due - 1 : 0;
        missed = missed > DUAL_PI2_MOST_MISSED ? DUAL_PI2_MOST_MISSED : missed;
        int<64> base = (int<64>) (bit<64>) p
            - (int<64>) (bit<64>) missed * (int<64>) (bit<64>) alpha * (int<64>) (bit<64>) target;
        base = base < 0 ? 0 : base;
        last_queueing = idle ? 0 : last_queueing;

        int<64> now_waiting = (int<64>) (bit<64>) queueing;
        int<64> next = base
            + (int<64>) (bit<64>) alpha * (now_waiting - (int<64>) (bit<64>) target)
            + (int<64>) (bit<64>) beta * (now_waiting - (int<64>) (bit<64>) last_queueing);
        next = next < 0 ? 0 : next;
        next = next > DUAL_PI2_MAX ? DUAL_PI2_MAX : next;
        if (due != 0) {
            p = (bit<32>) (bit<64>) next;
            dual_pi2_interval.write((bit<32>) port, interval);
            dual_pi2_queueing.write((bit<32>) port, queueing);
            dual_pi2_probability.write((bit<32>) port, p);
        }

        coupled     = (bit<40>) p * (bit<40>) coupling;
        beyond_step = waited_us > step ? 1w1 : 0;
    }

    // A port without an entry neither marks nor drops.
    table dual_pi2 {
        key = {
            port : exact @name("port");
        }
        actions = {
            control_queueing;
            @defaultonly NoAction;
        }
        const default_action = NoAction();
        size = PORTS;
    }

    // Counts the packets that wait in the two queues.
    action count_waiting() {
        sequence_t last_admitted;
        sequence_t last_dequeued;
        tail.read(last_admitted, (bit<32>) (port ++ CLASSIC));
        dequeued.read(last_dequeued, (bit<32>) (port ++ CLASSIC));
        waiting = last_admitted - last_dequeued;
        tail.read(last_admitted, (bit<32>) (port ++ LOW_LATENCY));
        dequeued.read(last_dequeued, (bit<32>) (port ++ LOW_LATENCY));
        waiting = waiting + last_admitted - last_dequeued;
    }

    apply {
        refused = 0;
        if (dual_pi2.apply().hit) {
            probability_t first;
            probability_t second;
            random(first, 0, 0xFFFFFFFF);
            random(second, 0, 0xFFFFFFFF);
            count_waiting();

            bool overload = coupled >= DUAL_PI2_CERTAIN;
            bool squared  = first < p && second < p;
            bool hit      = squared;
            if (priority == LOW_LATENCY && !overload) {
                hit = (bit<40>) first < coupled;
            }
            bool marks = hit;
            // In overload, losses hold the queueing in both queues; L4S packets that remain are marked.
            if (hit && (overload || ipv4.ecn == ECN_NOT_CAPABLE)) {
                refused = 1;
                marks   = false;
            }
            if (priority == LOW_LATENCY && (overload || beyond_step == 1)) {
                marks = refused == 0;
            }

            // Section A.1: a queue of less than two full packets gets no signal.
            if (waiting < 2) {
                refused = 0;
            } else if (refused == 1) {
                dual_pi2_dropped.count((bit<32>) (port ++ priority));
            } else if (marks && ipv4.ecn != ECN_EXPERIENCED) {
                ipv4.ecn = ECN_EXPERIENCED;
                dual_pi2_marked.count((bit<32>) (port ++ priority));
            }
        }
    }
}

#endif
