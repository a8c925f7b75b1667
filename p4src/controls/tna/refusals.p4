// TNA: whether a packet was waiting when another was refused because the queue was full.
//
// A refused packet returns through egress (deflect on drop) before the packets that were ahead of it in the
// queue, which arrived earlier. The first packet that arrived later ends the refusal.

#ifndef WAYMARK_TNA_REFUSALS_P4
#define WAYMARK_TNA_REFUSALS_P4

#include "../../include/tna/types.p4"

// 17 s, longer than any packet waits. An older refusal is from before the last wrap of the ticks.
const ticks_t LONGEST_WAIT = 0x4000000;

// Runs `leave` for each packet that its queue admitted, and `refuse` for each one that it refused.
control Refusals(in port_t port, in ticks_t arrived, in bit<1> refused, out bit<1> waited) {
    // Index: the port of the queue. Arrival time of the last refused packet; 0: none is known.
    Register<ticks_t, port_t>(PORTS) refused_at;

    RegisterAction<ticks_t, port_t, bit<1>>(refused_at) refuse = {
        void apply(inout ticks_t at) {
            at = arrived;
        }
    };

    RegisterAction<ticks_t, port_t, bit<1>>(refused_at) leave = {
        void apply(inout ticks_t at, out bit<1> was_waiting) {
            if (at >= arrived && at - arrived < LONGEST_WAIT) {
                was_waiting = 1;
            } else {
                was_waiting = 0;
                at          = 0;
            }
        }
    };

    apply {
        waited = 0;
        if (refused == 1) {
            refuse.execute(port);
        } else {
            waited = leave.execute(port);
        }
    }
}

#endif
