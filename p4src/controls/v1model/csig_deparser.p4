// v1model: frame_deparser.p4 with a CSIG tag behind the VLAN tag.

#ifndef WAYMARK_V1MODEL_CSIG_DEPARSER_P4
#define WAYMARK_V1MODEL_CSIG_DEPARSER_P4

#include "../../include/v1model/headers.p4"

control CsigDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.vlan);
        packet.emit(hdr.csig);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.options);
    }
}

#endif
