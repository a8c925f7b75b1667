// TNA: parses the lists of options that hosts send: AQT, AVBW-S, or both in either order. A parser
// cannot walk a list of any order and keep its octets, so every other list is forwarded unmarked.

#ifndef WAYMARK_TNA_EGRESS_PARSER_P4
#define WAYMARK_TNA_EGRESS_PARSER_P4

#include "../../include/tna/headers.p4"
#include "../../include/tna/types.p4"

// An option's type and length.
const bit<16> OPTION_START_AQT  = OPTION_AQT ++ AQT_LENGTH;
const bit<16> OPTION_START_AVBW = OPTION_AVBW ++ AVBW_LENGTH;

parser HopEgressParser(packet_in packet,
                       out egress_headers_t hdr,
                       out egress_metadata_t meta,
                       out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        packet.extract(eg_intr_md);
        packet.extract(hdr.bridged);
        transition select(hdr.bridged.opaque) {
            0       : ethernet;
            default : accept;
        }
    }

    state ethernet {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHER_TYPE_VLAN : vlan;
            default         : ipv4;
        }
    }

    state vlan {
        packet.extract(hdr.vlan);
        transition ipv4;
    }

    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.ihl) {
            5       : markable;
            6       : one_word;
            7       : two_words;
            8       : three_words;
            default : accept;
        }
    }

    state one_word {
        transition select(packet.lookahead<bit<16>>()) {
            OPTION_START_AVBW : avbw;
            default           : accept;
        }
    }

    state two_words {
        transition select(packet.lookahead<bit<16>>()) {
            OPTION_START_AQT : aqt0;
            default          : accept;
        }
    }

    state three_words {
        transition select(packet.lookahead<bit<16>>()) {
            OPTION_START_AQT  : aqt_before_avbw;
            OPTION_START_AVBW : avbw_before_aqt;
            default           : accept;
        }
    }

    state aqt_before_avbw {
        packet.extract(hdr.options.aqt0);
        transition select(packet.lookahead<bit<16>>()) {
            OPTION_START_AVBW : avbw;
            default           : accept;
        }
    }

    state avbw_before_aqt {
        packet.extract(hdr.options.avbw);
        transition select(packet.lookahead<bit<16>>()) {
            OPTION_START_AQT : aqt1;
            default          : accept;
        }
    }

    state aqt0 { packet.extract(hdr.options.aqt0); transition markable; }
    state avbw { packet.extract(hdr.options.avbw); transition markable; }
    state aqt1 { packet.extract(hdr.options.aqt1); transition markable; }

    state markable {
        meta.markable = 1;
        transition accept;
    }
}

#endif
