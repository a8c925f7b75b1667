// v1model: emits the headers in the order in which they arrived.

#ifndef WAYMARK_V1MODEL_FRAME_DEPARSER_P4
#define WAYMARK_V1MODEL_FRAME_DEPARSER_P4

#include "../../include/v1model/headers.p4"

control FrameDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.vlan);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.options);
    }
}

#endif
