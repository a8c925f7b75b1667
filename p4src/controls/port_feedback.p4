// Which marks a port writes.

#ifndef WAYMARK_PORT_FEEDBACK_P4
#define WAYMARK_PORT_FEEDBACK_P4

#include "../include/constants.p4"
#include "../include/types.p4"

control PortFeedback(in port_t port, out feedback_t feedback) {
    // A DRAI window, 2^window_log2 µs, should be about a round trip, and hold 4 full packets.
    action set_feedback(bit<1> aqt, bit<1> drai, bit<1> ci, bit<6> window_log2) {
        feedback = { aqt, drai, ci, window_log2 };
    }

    table port_feedback {
        key = {
            port : exact @name("port");
        }
        actions = {
            set_feedback;
        }
        default_action = set_feedback(0, 0, 0, 0);
        size = PORTS;
    }

    apply {
        port_feedback.apply();
    }
}

#endif
