// v1model: types, constants and per-packet metadata.

#ifndef WAYMARK_V1MODEL_TYPES_P4
#define WAYMARK_V1MODEL_TYPES_P4

#include "../constants.p4"
#include "../types.p4"

// The controller's port: packets from it start with packet_out_h, packets to it with packet_in_h.
const port_t CPU_PORT = 510;

// A packet's number in its queue, from 1; 0 means none. 48 bits do not wrap in a switch's life.
typedef bit<48> sequence_t;

// Without an entry of port_queue, only the traffic manager limits a queue.
const sequence_t UNLIMITED = 0xFFFFFFFFFFFF;

// Octets of a DRAI window.
typedef bit<32> window_octets_t;

// Entries of table drai.
const bit<32> DRAI_ENTRIES = 4096;

// The position of an admitted packet in its queue: written at ingress, read at egress.
struct queue_place_t {
    bit<1>     admitted;
    bit<32>    queue;   // port and priority
    sequence_t number;
}

// The target clears it before the parser; 0 is the initial value of every field.
struct metadata_t {
    ether_type_t  ether_type;         // behind the VLAN tag, if there is one
    bit<1>        options_malformed;
    drop_cause_t  drop_cause;
    port_t        egress_port;
    ipv4_addr_t   next_hop;
    bit<32>       l4_ports;           // source and destination, where a program parses them
    bit<1>        tcp_int_at_odd;     // the TCP-INT option begins at an odd octet
    queue_place_t place;
}

#endif
