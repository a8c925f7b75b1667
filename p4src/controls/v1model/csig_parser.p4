// v1model: parser.p4 and a CSIG tag behind the VLAN tag.

#ifndef WAYMARK_V1MODEL_CSIG_PARSER_P4
#define WAYMARK_V1MODEL_CSIG_PARSER_P4

#include <v1model.p4>
#include "../../include/csig.p4"
#include "frame_parser.p4"

parser CsigParser(packet_in packet,
                  out headers_t hdr,
                  inout metadata_t meta,
                  inout standard_metadata_t standard_metadata) {
    FrameParser() frame_parser;
    OptionsParser() options_parser;

    state start {
        frame_parser.apply(packet, hdr, meta, standard_metadata.ingress_port);
        transition select(meta.ether_type) {
            ETHER_TYPE_CSIG : csig;
            default         : accept;
        }
    }

    state csig {
        packet.extract(hdr.csig);
        meta.ether_type = hdr.csig.ether_type;
        transition select(meta.ether_type) {
            ETHER_TYPE_IPV4 : ipv4;
            default         : accept;
        }
    }

    state ipv4 {
        packet.extract(hdr.ipv4);
        verify(hdr.ipv4.version == 4, error.Ipv4VersionInvalid);
        verify(hdr.ipv4.ihl >= 5, error.Ipv4HeaderLengthInvalid);
        options_parser.apply(packet, hdr.ipv4.ihl, hdr.options, meta.options_malformed);
        transition accept;
    }
}

#endif
