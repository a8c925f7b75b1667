// v1model's parser type around the hop's parser.

#ifndef WAYMARK_V1MODEL_PARSER_P4
#define WAYMARK_V1MODEL_PARSER_P4

#include <v1model.p4>
#include "frame_parser.p4"

parser HopParser(packet_in packet,
                 out headers_t hdr,
                 inout metadata_t meta,
                 inout standard_metadata_t standard_metadata) {
    FrameParser() frame_parser;

    state start {
        frame_parser.apply(packet, hdr, meta, standard_metadata.ingress_port);
        transition accept;
    }
}

#endif
