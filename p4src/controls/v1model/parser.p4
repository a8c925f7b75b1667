// v1model: a packet from the controller's port starts with its packet_out header.

#ifndef WAYMARK_V1MODEL_PARSER_P4
#define WAYMARK_V1MODEL_PARSER_P4

#include <v1model.p4>
#include "../frame_parser.p4"

parser HopParser(packet_in packet,
                 out headers_t hdr,
                 inout metadata_t meta,
                 inout standard_metadata_t standard_metadata) {
    FrameParser() frame_parser;

    state start {
        transition select(standard_metadata.ingress_port) {
            CPU_PORT : from_controller;
            default  : frame;
        }
    }

    state from_controller {
        packet.extract(hdr.packet_out);
        transition frame;
    }

    state frame {
        frame_parser.apply(packet, hdr, meta);
        transition accept;
    }
}

#endif
