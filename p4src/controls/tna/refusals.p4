// TNA: whether a packet was waiting when another was refused because the queue was full.
//
// A refused packet comes back through egress (deflect on drop), where the packets that were ahead of it
// have yet to come: those that arrived before it. The first packet that arrived later ends the refusal.

#ifndef WAYMARK_TNA_REFUSALS_P4
#define WAYMARK_TNA_REFUSALS_P4

#include "../../include/tna/types.p4"

// A packet waits less than this, 17 s; an older refusal is one from before ticks wrapped.
const ticks_t LONGEST_WAIT = 0x4000000;

// leave for each packet that its queue admitted, refuse for each that it refused.
control Refusals(in port_t port, in ticks_t arrived, in bit<1> refused, out bit<1> waited) {
    // Index: the port of the queue. When the last refused packet arrived; 0: none is known.
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
