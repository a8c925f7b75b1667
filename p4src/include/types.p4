// Types that all architectures share.

#ifndef WAYMARK_TYPES_P4
#define WAYMARK_TYPES_P4

typedef bit<48> mac_addr_t;
typedef bit<32> ipv4_addr_t;
typedef bit<16> ether_type_t;

const int PORT_WIDTH     = 9;
const int PRIORITY_WIDTH = 3;
typedef bit<(PORT_WIDTH)>     port_t;
typedef bit<(PRIORITY_WIDTH)> priority_t;

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

#endif
