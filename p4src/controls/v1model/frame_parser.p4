// v1model: from Ethernet to the last octet of the IPv4 header. The rest is payload, which no mark needs.

#ifndef WAYMARK_V1MODEL_FRAME_PARSER_P4
#define WAYMARK_V1MODEL_FRAME_PARSER_P4

#include "../../include/constants.p4"
#include "../../include/v1model/headers.p4"
#include "../../include/v1model/types.p4"
#include "options_parser.p4"

error {
    Ipv4VersionInvalid,
    Ipv4HeaderLengthInvalid
}

parser FrameParser(packet_in packet,
                   out headers_t hdr,
                   inout metadata_t meta,
                   in port_t ingress_port) {
    OptionsParser() options_parser;

    state start {
        transition select(ingress_port) {
            CPU_PORT : from_controller;
            default  : ethernet;
        }
    }

    state from_controller {
        packet.extract(hdr.packet_out);
        transition ethernet;
    }

    state ethernet {
        packet.extract(hdr.ethernet);
        meta.ether_type = hdr.ethernet.ether_type;
        transition select(meta.ether_type) {
            ETHER_TYPE_VLAN : vlan;
            ETHER_TYPE_IPV4 : ipv4;
            default         : accept;
        }
    }

    state vlan {
        packet.extract(hdr.vlan);
        meta.ether_type = hdr.vlan.ether_type;
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
