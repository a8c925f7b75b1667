// TNA: counters of what a port sent and marked. A packet reaches each counter once, so each kind of
// mark has its own.

#ifndef WAYMARK_TNA_EGRESS_COUNTERS_P4
#define WAYMARK_TNA_EGRESS_COUNTERS_P4

#include "../../include/tna/types.p4"

control EgressCounters(in port_t port, in marked_t marked) {
    // Index: port.
    Counter<bit<32>, port_t>(PORTS, CounterType_t.PACKETS_AND_BYTES) sent;
    Counter<bit<32>, port_t>(PORTS, CounterType_t.PACKETS) aqt_marks;
    Counter<bit<32>, port_t>(PORTS, CounterType_t.PACKETS) drai_marks;
    Counter<bit<32>, port_t>(PORTS, CounterType_t.PACKETS) ci_marks;

    apply {
        sent.count(port);
        if (marked.aqt == 1) {
            aqt_marks.count(port);
        }
        if (marked.drai == 1) {
            drai_marks.count(port);
        }
        if (marked.ci == 1) {
            ci_marks.count(port);
        }
    }
}

#endif
