// TNA: counts packets whose options this hop forwards without marks.

#ifndef WAYMARK_TNA_UNMARKED_OPTIONS_P4
#define WAYMARK_TNA_UNMARKED_OPTIONS_P4

#include "../../include/tna/types.p4"

control UnmarkedOptions(in port_t came_by) {
    // Index: the port a packet came by.
    Counter<bit<32>, port_t>(PORTS, CounterType_t.PACKETS) malformed_options;

    apply {
        malformed_options.count(came_by);
    }
}

#endif
