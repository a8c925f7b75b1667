// In-band network telemetry (INT 2.1, INT-MD) behind TCP and UDP headers: constants and headers.
// https://p4.org/p4-spec/docs/INT_v2_1.pdf

#ifndef WAYMARK_INT_P4
#define WAYMARK_INT_P4

#include "headers.p4"
#include "types.p4"

const bit<8> PROTOCOL_TCP = 6;
const bit<8> PROTOCOL_UDP = 17;

// The DSCP of packets with INT in this domain: that of the specification's example (section 6.1).
const bit<6> INT_DSCP = 0x17;

const bit<4> INT_VERSION = 2;

// The last field of the shim is the original DSCP. For other values it is a port or a protocol (section 5.6.2).
const bit<2> INT_NEXT_TYPE_DSCP = 0;

// INT header types (section 5.1).
enum bit<4> int_kind_t {
    HOP_BY_HOP  = 1,  // INT-MD: hops push records
    DESTINATION = 2,  // for the sink alone
    EXPORTED    = 3   // INT-MX: hops report elsewhere
}

// The domain whose instructions are those of HPCC (SIGCOMM 2019, section 4.1).
const bit<16> INT_DOMAIN = 0x5741;

// Lengths of the fixed header and of the shim, in words of 32 bits.
const bit<8> INT_HEADER_WORDS = 3;
const bit<8> INT_SHIM_WORDS   = 1;

// What happened to a packet with telemetry, and its slot in `int_events`.
enum bit<3> int_event_t {
    WRITTEN     = 0,
    STARTED     = 1,  // by this hop, as the source
    REMOVED     = 2,  // by this hop, as the sink
    EXHAUSTED   = 3,  // the remaining hop count is 0
    TOO_LONG    = 4,  // with a record of this hop, it would exceed the MTU of the link
    UNSUPPORTED = 5,  // a version, an instruction, a length or a shim that this hop does not know
    MALFORMED   = 6   // no complete stack behind the transport header
}

header tcp_options_h {
    varbit<320> octets;
}

// RFC 768.
header udp_h {
    bit<16> src_port;
    bit<16> dst_port;
    bit<16> length;
    bit<16> checksum;  // 0: none
}

// Section 5.6.2.
header int_shim_h {
    int_kind_t kind;
    bit<2>     next_type;
    bit<2>     reserved0;
    bit<8>     words;      // behind this header
    bit<8>     reserved1;
    bit<6>     dscp;       // of the packet before INT
    bit<2>     reserved2;
}

// Section 5.7.
header int_md_h {
    bit<4>  version;
    bit<1>  discard;
    bit<1>  exhausted;
    bit<1>  too_long;
    bit<12> reserved;
    bit<5>  hop_words;    // words of each hop's record
    bit<8>  remaining;    // hops that may still write
    bit<16> instructions;
    bit<16> domain;
    bit<16> domain_instructions;
    bit<16> domain_flags; // of INT_DOMAIN: a hash of the hops so far
}

// The records of earlier hops, the newest first. If there are more words than this, they stay payload.
const bit<8> INT_STACK_WORDS = 128;

header int_stack_h {
    varbit<4096> records;
}

// ---- a record, in the order of the instructions' bits ----

header int_node_h        { bit<32> id; }
header int_ports_h       { bit<16> ingress; bit<16> egress; }
header int_latency_h     { bit<32> ns; }
header int_queue_h       { bit<8> id; bit<24> octets; }  // left behind in the queue
header int_time_h        { bit<64> ns; }
header int_unknown_h     { bit<32> value; }
header int_unknown_8_h   { bit<64> value; }
header int_sent_h        { bit<32> octets; }             // by the port so far
header int_rate_h        { bit<32> kbps; }               // of the port's line

// At most one record: that of this hop.
struct int_record_t {
    int_node_h      node;          // bit 0, the most significant
    int_ports_h     ports;         // bit 1
    int_latency_h   latency;       // bit 2
    int_queue_h     queue;         // bit 3
    int_time_h      came;          // bit 4
    int_time_h      left;          // bit 5
    int_unknown_8_h second_ports;  // bit 6
    int_unknown_h   utilisation;   // bit 7
    int_unknown_h   buffer;        // bit 8
    int_sent_h      sent;          // bit 0 of the domain
    int_rate_h      rate;          // bit 1 of the domain
    int_unknown_h   complement;    // bit 15; all ones: the checksum of the transport header is right
}

struct int_telemetry_t {
    tcp_h         tcp;
    tcp_options_h tcp_options;
    udp_h         udp;
    int_shim_h    shim;
    int_md_h      md;
    int_record_t  record;
    int_stack_h   stack;
}

// How a hop changes the data behind the transport header.
struct int_change_t {
    bit<16> added;    // octets
    bit<16> removed;  // octets
    bit<32> sum;      // of the added 16-bit words and the complements of the removed ones
}

#endif
