// v1model: the headers and the metadata of a packet that may have telemetry.

#ifndef WAYMARK_V1MODEL_INT_HEADERS_P4
#define WAYMARK_V1MODEL_INT_HEADERS_P4

#include "../int.p4"
#include "headers.p4"
#include "types.p4"

struct int_headers_t {
    headers_t       hop;
    int_telemetry_t telemetry;
}

struct int_metadata_t {
    metadata_t hop;
    bit<1>     whole_transport;   // a TCP or UDP header is there, and all that it says follows
    bit<1>     malformed;         // no whole stack, where the DSCP says that there is one
    bit<32>    admitted_octets;   // to the packet's queue so far, its own included; modulo 2^32
}

#endif
