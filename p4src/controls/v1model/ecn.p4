// v1model: ECN (RFC 3168) with a step at a threshold on the instantaneous queue, as DCTCP requires
// (RFC 8257, section 3.1). CI uses the same ECN field, so a port has at most one of the two.

#ifndef WAYMARK_V1MODEL_ECN_P4
#define WAYMARK_V1MODEL_ECN_P4

#include <v1model.p4>
#include "../../include/constants.p4"
#include "../../include/ecn.p4"
#include "../../include/headers.p4"
#include "../../include/v1model/types.p4"

control Ecn(inout ipv4_h ipv4, in port_t port, in bit<19> waiting_at_arrival) {
    // Index: port. Packets that this hop marked.
    counter(PORTS, CounterType.packets) ecn_marks;

    bit<1> long_queue;

    // threshold: a packet behind more waiting packets than this is marked.
    action mark_above(bit<19> threshold) {
        long_queue = waiting_at_arrival > threshold ? 1w1 : 0;
    }

    // A port without an entry marks nothing.
    table ecn_threshold {
        key = {
            port : exact @name("port");
        }
        actions = {
            mark_above;
            @defaultonly NoAction;
        }
        const default_action = NoAction();
        size = PORTS;
    }

    apply {
        long_queue = 0;
        if (ipv4.ecn != ECN_NOT_CAPABLE && ipv4.ecn != ECN_EXPERIENCED) {
            ecn_threshold.apply();
            if (long_queue == 1) {
                ipv4.ecn = ECN_EXPERIENCED;
                ecn_marks.count((bit<32>) port);
            }
        }
    }
}

#endif
