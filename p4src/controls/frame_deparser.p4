// Back onto the wire, each octet where it was.

#ifndef WAYMARK_FRAME_DEPARSER_P4
#define WAYMARK_FRAME_DEPARSER_P4

#include "../include/headers.p4"

control FrameDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.vlan);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.before);
        packet.emit(hdr.aqt0);
        packet.emit(hdr.between0);
        packet.emit(hdr.avbw);
        packet.emit(hdr.between1);
        packet.emit(hdr.aqt1);
        packet.emit(hdr.after);
    }
}

#endif
