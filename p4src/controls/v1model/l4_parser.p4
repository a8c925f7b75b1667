// v1model: parser.p4 and the ports of TCP, UDP and SCTP behind the IPv4 header.

#ifndef WAYMARK_V1MODEL_L4_PARSER_P4
#define WAYMARK_V1MODEL_L4_PARSER_P4

#include <v1model.p4>
#include "frame_parser.p4"

const bit<8> PROTOCOL_TCP  = 6;
const bit<8> PROTOCOL_UDP  = 17;
const bit<8> PROTOCOL_SCTP = 132;

const bit<3> MORE_FRAGMENTS = 1;  // RFC 791: the last of the flags

parser L4Parser(packet_in packet,
                out headers_t hdr,
                inout metadata_t meta,
                inout standard_metadata_t standard_metadata) {
    FrameParser() frame_parser;

    state start {
        frame_parser.apply(packet, hdr, meta, standard_metadata.ingress_port);
        transition select(hdr.ipv4.isValid()) {
            true  : whole_datagram;
            false : accept;
        }
    }

    // Only the first fragment has ports, and all fragments of a datagram take the same path.
    state whole_datagram {
        transition select(hdr.ipv4.flags & MORE_FRAGMENTS, hdr.ipv4.frag_offset) {
            (0, 0)  : transport;
            default : accept;
        }
    }

    // A datagram too short for its ports has none.
    state transport {
        bit<16> header_octets = (bit<16>) hdr.ipv4.ihl << 2;
        transition select(hdr.ipv4.protocol, hdr.ipv4.total_len >= header_octets + 4) {
            (PROTOCOL_TCP,  true) : ports;
            (PROTOCOL_UDP,  true) : ports;
            (PROTOCOL_SCTP, true) : ports;
            default               : accept;
        }
    }

    state ports {
        meta.l4_ports = packet.lookahead<bit<32>>();
        transition accept;
    }
}

#endif
