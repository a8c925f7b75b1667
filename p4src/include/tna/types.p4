// TNA and T2NA: types, constants and per-packet metadata.

#ifndef WAYMARK_TNA_TYPES_P4
#define WAYMARK_TNA_TYPES_P4

#include "../constants.p4"
#include "../types.p4"

// The controller's port, PCIe: packets from it start with packet_out_h, packets to it with packet_in_h.
#if __TARGET_TOFINO__ == 1
const port_t CPU_PORT = 320;
#else
const port_t CPU_PORT = 0;
#endif

// A point in time, in units of 256 ns: bits 39 to 8 of a timestamp. It wraps after 18 minutes.
typedef bit<32> ticks_t;

// From the ingress parser to the egress parser without a queue. It depends on the switch and the
// program; docs/tofino.md says how to measure it.
#ifndef PIPELINE_TICKS
#define PIPELINE_TICKS 0
#endif

// Added to each waiting time: queue_time.p4 says why.
const ticks_t ROUNDING_TICKS = 3;

// Octets of a DRAI window, in the unit of table window_unit. A range key has at most five nibbles.
typedef bit<16> window_octets_t;

// Entries of table drai, which fit the TCAM of one stage.
const bit<32> DRAI_ENTRIES = 1024;

// A packet's window and the one before, one of which is even.
struct window_t {
    ticks_t is_odd;      // 0: the packet's window is even
    ticks_t even_start;
    ticks_t odd_end;
}

// Ingress. Every field is 0 before the parser.
struct metadata_t {
    ether_type_t ether_type;      // of a packet that is not IPv4, behind the VLAN tag, if there is one
    bit<1>       checksum_error;
    drop_cause_t drop_cause;
    port_t       egress_port;
    ipv4_addr_t  next_hop;
}

// Egress, likewise.
struct egress_metadata_t {
    bit<1> markable;  // IPv4 without options or with a list that this hop can mark
}

#endif
