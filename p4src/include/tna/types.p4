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

// Octets of a DRAI window, in the unit of table window_unit. A range key has at most 20 bits.
typedef bit<20> window_octets_t;

// Ingress. The parser initialises every field.
struct metadata_t {
    ether_type_t ether_type;      // behind the VLAN tag, if there is one
    bit<1>       checksum_error;
    drop_cause_t drop_cause;
    port_t       egress_port;
    ipv4_addr_t  next_hop;
}

// Egress. The parser initialises every field.
struct egress_metadata_t {
    bit<1> markable;  // IPv4 without options or with a list that this hop can mark
}

#endif
