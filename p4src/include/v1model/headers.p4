// v1model: the headers of a packet.

#ifndef WAYMARK_V1MODEL_HEADERS_P4
#define WAYMARK_V1MODEL_HEADERS_P4

#include "../headers.p4"

// In front of a packet to the controller.
@controller_header("packet_in")
header packet_in_h {
    port_t ingress_port;
    bit<7> padding;
}

// In front of a packet from the controller.
@controller_header("packet_out")
header packet_out_h {
    port_t egress_port;
    bit<7> padding;
}

// Options come in any order, so AQT has a place on either side of AVBW-S: at most one of aqt0 and
// aqt1 is valid. Both places stay visible behind the parser: deparsers and checksums list headers in
// one order, without conditions, and a copy for the controls in between would cost each packet.
struct options_t {
    option_run_h before;
    aqt_h        aqt0;
    option_run_h between0;
    avbw_h       avbw;
    option_run_h between1;
    aqt_h        aqt1;
    option_run_h after;
}

struct headers_t {
    packet_in_h  packet_in;
    packet_out_h packet_out;
    ethernet_h   ethernet;
    vlan_h       vlan;
    csig_h       csig;      // csig.p4 only
    ipv4_h       ipv4;
    options_t    options;
    tcp_h        tcp;         // this and the following: tcp_int.p4 only
    option_run_h tcp_before;
    tcp_int_h    tcp_int;
}

#endif
