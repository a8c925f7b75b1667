// v1model: frame_deparser.p4 and TCP's header up to the TCP-INT option.

#ifndef WAYMARK_V1MODEL_TCP_INT_DEPARSER_P4
#define WAYMARK_V1MODEL_TCP_INT_DEPARSER_P4

#include "../../include/v1model/headers.p4"

control TcpIntDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.vlan);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.options);
        packet.emit(hdr.tcp);
        packet.emit(hdr.tcp_before);
        packet.emit(hdr.tcp_int);
    }
}

#endif
