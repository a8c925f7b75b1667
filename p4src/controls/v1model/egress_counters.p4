// v1model: counters of what a port sent and marked.

#ifndef WAYMARK_V1MODEL_EGRESS_COUNTERS_P4
#define WAYMARK_V1MODEL_EGRESS_COUNTERS_P4

#include <v1model.p4>
#include "../../include/constants.p4"
#include "../../include/v1model/types.p4"

control EgressCounters(in port_t port, in marked_t marked) {
    // Index: port.
    counter(PORTS, CounterType.packets_and_bytes) sent;

    // Index: 4 * port + mark_t.
    counter(PORTS * 4, CounterType.packets) marks;

    apply {
        sent.count((bit<32>) port);
        if (marked.aqt == 1) {
            marks.count((bit<32>) (port ++ (bit<2>) mark_t.AQT));
        }
        if (marked.drai == 1) {
            marks.count((bit<32>) (port ++ (bit<2>) mark_t.DRAI));
        }
        if (marked.ci == 1) {
            marks.count((bit<32>) (port ++ (bit<2>) mark_t.CI));
        }
    }
}

#endif
