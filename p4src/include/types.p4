// Types and per-packet metadata.

#ifndef WAYMARK_TYPES_P4
#define WAYMARK_TYPES_P4

typedef bit<48> mac_addr_t;
typedef bit<32> ipv4_addr_t;
typedef bit<16> ether_type_t;
typedef bit<9>  port_t;
typedef bit<3>  priority_t;

// A packet's number in its queue, from 1; 0 means none. 48 bits do not wrap in a switch's life.
typedef bit<48> sequence_t;

// Why a packet was dropped, and its slot in `drops`.
enum bit<3> drop_cause_t {
    NONE       = 0,
    MALFORMED  = 1,  // a header cut short, IP version not 4, or IHL below 5
    CHECKSUM   = 2,
    TTL        = 3,
    NO_ROUTE   = 4,
    QUEUE_FULL = 5,
    RED        = 6   // an early drop
}

// A kind of mark, and its slot in `marks`.
enum bit<2> mark_t {
    AQT  = 0,
    DRAI = 1,
    CI   = 2
}

// The position of an admitted packet in its queue: written at ingress, read at egress.
struct queue_place_t {
    bit<1>     admitted;
    bit<32>    queue;   // port and priority
    sequence_t number;
}

// The marks that the controller enabled at a port.
struct feedback_t {
    bit<1> aqt;
    bit<1> drai;
    bit<1> ci;
    bit<6> window_log2;  // a DRAI window lasts 2^window_log2 µs
}

// The marks that this hop wrote into a packet.
struct marked_t {
    bit<1> aqt;
    bit<1> drai;
    bit<1> ci;
}

// The target clears it before the parser; 0 is the initial value of every field.
struct metadata_t {
    ether_type_t  ether_type;         // behind the VLAN tag, if there is one
    bit<1>        options_malformed;
    drop_cause_t  drop_cause;
    port_t        egress_port;
    ipv4_addr_t   next_hop;
    queue_place_t place;
}

#endif
