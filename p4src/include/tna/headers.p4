// TNA and T2NA: the headers of a packet in ingress and in egress.

#ifndef WAYMARK_TNA_HEADERS_P4
#define WAYMARK_TNA_HEADERS_P4

#include "../headers.p4"
#include "types.p4"

// In front of a packet to the controller.
@controller_header("packet_in")
header packet_in_h {
    bit<7> padding;
    port_t ingress_port;
}

// In front of a packet from the controller.
@controller_header("packet_out")
header packet_out_h {
    bit<7> padding;
    port_t egress_port;
}

// In front of each packet from ingress to egress. Egress needs the ports also of a refused packet,
// which comes back by another port.
header bridged_h {
    ticks_t arrived;   // with PIPELINE_TICKS, less ROUNDING_TICKS
    @padding
    bit<7>  padding0;
    port_t  came_by;
    @padding
    bit<7>  padding1;
    port_t  leaves_by;
    @padding
    bit<7>  padding2;
    bit<1>  opaque;    // the packet starts with packet_in_h, or ingress read no IPv4 header
}

// 4 octets of IPv4 options.
header option_word_h {
    bit<32> octets;
}

// Ingress reads options only for the checksum. The last word is always at index 9.
struct headers_t {
    bridged_h         bridged;
    packet_in_h       packet_in;
    packet_out_h      packet_out;
    ethernet_h        ethernet;
    vlan_h            vlan;
    ipv4_h            ipv4;
    option_word_h[10] options;
}

// At most one of aqt0 and aqt1 is valid, on either side of AVBW-S. Why both stay visible behind the
// parser: ../v1model/headers.p4.
struct options_t {
    aqt_h  aqt0;
    avbw_h avbw;
    aqt_h  aqt1;
}

struct egress_headers_t {
    bridged_h  bridged;
    ethernet_h ethernet;
    vlan_h     vlan;
    ipv4_h     ipv4;
    options_t  options;
}

#endif
