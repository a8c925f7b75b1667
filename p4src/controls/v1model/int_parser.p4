// v1model: parser.p4, the transport header behind it, and telemetry behind that.
//
// Only complete headers are extracted. An incomplete stack is treated as payload.

#ifndef WAYMARK_V1MODEL_INT_PARSER_P4
#define WAYMARK_V1MODEL_INT_PARSER_P4

#include <v1model.p4>
#include "../../include/v1model/int.p4"
#include "frame_parser.p4"

const bit<3> MORE_FRAGMENTS = 1;  // RFC 791: the last of the flags

parser IntParser(packet_in packet,
                 out int_headers_t hdr,
                 inout int_metadata_t meta,
                 inout standard_metadata_t standard_metadata) {
    FrameParser() frame_parser;
    bit<32> octets;   // of the datagram behind its IPv4 header
    bit<32> present;  // octets of the frame there
    bit<32> parsed;   // octets of the transport header

    state start {
        frame_parser.apply(packet, hdr.hop, meta.hop, standard_metadata.ingress_port);
        transition select(hdr.hop.ipv4.isValid()) {
            true  : datagram;
            false : accept;
        }
    }

    state datagram {
        bit<32> link = (hdr.hop.packet_out.isValid() ? 32w2 : 0) + (hdr.hop.vlan.isValid() ? 32w18 : 14);
        bit<32> ip   = (bit<32>) hdr.hop.ipv4.ihl << 2;
        octets       = (bit<32>) hdr.hop.ipv4.total_len |-| ip;
        present      = standard_metadata.packet_length |-| (link + ip);
        transition select(hdr.hop.ipv4.flags & MORE_FRAGMENTS, hdr.hop.ipv4.frag_offset,
                          present >= octets) {
            (0, 0, true) : transport;
            default      : no_stack;
        }
    }

    state transport {
        transition select(hdr.hop.ipv4.protocol, octets >= 8, octets >= 20) {
            (PROTOCOL_TCP, _,    true) : tcp;
            (PROTOCOL_UDP, true, _   ) : udp;
            default                    : no_stack;
        }
    }

    state tcp {
        packet.extract(hdr.telemetry.tcp);
        parsed = (bit<32>) hdr.telemetry.tcp.data_offset << 2;
        transition select(parsed >= 20 && parsed <= octets) {
            true  : tcp_options;
            false : no_stack;
        }
    }

    state tcp_options {
        packet.extract(hdr.telemetry.tcp_options, (parsed - 20) << 3);
        transition whole_transport;
    }

    state udp {
        packet.extract(hdr.telemetry.udp);
        parsed = 8;
        transition select((bit<32>) hdr.telemetry.udp.length == octets) {
            true  : whole_transport;
            false : no_stack;
        }
    }

    state whole_transport {
        meta.whole_transport = 1;
        octets               = octets - parsed;
        transition select(hdr.hop.ipv4.dscp, octets >= 16) {
            (INT_DSCP, true ) : look_at_shim;
            (INT_DSCP, false) : no_stack;
            default           : accept;
        }
    }

    // Headers of other types are not for this hop.
    state look_at_shim {
        bit<32> shim  = packet.lookahead<bit<32>>();
        bit<32> stack = (bit<32>) (shim[23:16] ++ 2w0);
        transition select((int_kind_t) shim[31:28], stack >= 12 && stack <= octets - 4) {
            (int_kind_t.HOP_BY_HOP,  true) : stack;
            (int_kind_t.DESTINATION, true) : accept;
            (int_kind_t.EXPORTED,    true) : accept;
            default                        : no_stack;
        }
    }

    state stack {
        packet.extract(hdr.telemetry.shim);
        packet.extract(hdr.telemetry.md);
        transition select(hdr.telemetry.shim.words <= INT_HEADER_WORDS + INT_STACK_WORDS) {
            true  : records;
            false : accept;  // the rest stays payload: hops can push a record, but cannot remove the stack
        }
    }

    state records {
        packet.extract(hdr.telemetry.stack,
                       (bit<32>) (hdr.telemetry.shim.words - INT_HEADER_WORDS) << 5);
        transition accept;
    }

    state no_stack {
        meta.malformed = hdr.hop.ipv4.dscp == INT_DSCP ? 1w1 : 0;
        transition accept;
    }
}

#endif
