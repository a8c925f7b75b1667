// v1model: parser.p4, and TCP's header up to the TCP-INT option, at any position in the list of options.
//
// A malformed list, and a header that exceeds its packet, are treated as payload and forwarded.

#ifndef WAYMARK_V1MODEL_TCP_INT_PARSER_P4
#define WAYMARK_V1MODEL_TCP_INT_PARSER_P4

#include <v1model.p4>
#include "../../include/tcp_int.p4"
#include "frame_parser.p4"

const bit<8>  PROTOCOL_TCP     = 6;
const bit<3>  MORE_FRAGMENTS   = 1;  // RFC 791: the last of the flags
const bit<16> TCP_OCTETS       = 20;
const bit<32> ETHERNET_OCTETS  = 14;
const bit<32> VLAN_OCTETS      = 4;

parser TcpIntParser(packet_in packet,
                    out headers_t hdr,
                    inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    FrameParser() frame_parser;

    bit<16>  room;     // octets of the TCP segment
    bit<320> window;   // the option octets from `at` on, then zeros: the end reads as EOL
    bit<8>   size;     // octets of all options
    bit<8>   at;       // octets walked
    bit<8>   length;   // octets of the option at `at`
    bit<8>   int_at;   // where TCP-INT begins; `size` when there is none

    state start {
        frame_parser.apply(packet, hdr, meta, standard_metadata.ingress_port);
        transition select(hdr.ipv4.isValid(), hdr.packet_out.isValid()) {
            (true, false) : datagram;
            default       : accept;
        }
    }

    // Options are parsed only in a datagram that is complete and not fragmented.
    state datagram {
        bit<16> header_octets = (bit<16>) hdr.ipv4.ihl << 2;
        bit<32> in_front = hdr.vlan.isValid() ? ETHERNET_OCTETS + VLAN_OCTETS : ETHERNET_OCTETS;
        bool whole = in_front + (bit<32>) hdr.ipv4.total_len <= standard_metadata.packet_length
            && hdr.ipv4.total_len >= header_octets + TCP_OCTETS;
        room = hdr.ipv4.total_len - header_octets;
        transition select(hdr.ipv4.protocol, hdr.ipv4.flags & MORE_FRAGMENTS, hdr.ipv4.frag_offset, whole) {
            (PROTOCOL_TCP, 0, 0, true)  : tcp;
            (PROTOCOL_TCP, 0, 0, false) : malformed;
            default                     : accept;
        }
    }

    state tcp {
        packet.extract(hdr.tcp);
        size   = ((bit<8>) hdr.tcp.data_offset - 5) << 2;
        at     = 0;
        int_at = size;
        transition select(hdr.tcp.data_offset >= 5 && room >= (bit<16>) hdr.tcp.data_offset << 2) {
            true  : options;
            false : malformed;
        }
    }

    state options {
        transition select(hdr.tcp.data_offset) {
            6       : look_ahead_4;
            7       : look_ahead_8;
            8       : look_ahead_12;
            9       : look_ahead_16;
            10      : look_ahead_20;
            11      : look_ahead_24;
            12      : look_ahead_28;
            13      : look_ahead_32;
            14      : look_ahead_36;
            15      : look_ahead_40;
            default : accept;  // no options
        }
    }

    state look_ahead_4  { window = packet.lookahead<bit<32>>()  ++ 288w0; transition walk; }
    state look_ahead_8  { window = packet.lookahead<bit<64>>()  ++ 256w0; transition walk; }
    state look_ahead_12 { window = packet.lookahead<bit<96>>()  ++ 224w0; transition walk; }
    state look_ahead_16 { window = packet.lookahead<bit<128>>() ++ 192w0; transition walk; }
    state look_ahead_20 { window = packet.lookahead<bit<160>>() ++ 160w0; transition walk; }
    state look_ahead_24 { window = packet.lookahead<bit<192>>() ++ 128w0; transition walk; }
    state look_ahead_28 { window = packet.lookahead<bit<224>>() ++ 96w0;  transition walk; }
    state look_ahead_32 { window = packet.lookahead<bit<256>>() ++ 64w0;  transition walk; }
    state look_ahead_36 { window = packet.lookahead<bit<288>>() ++ 32w0;  transition walk; }
    state look_ahead_40 { window = packet.lookahead<bit<320>>();          transition walk; }

    state walk {
        length = 1;
        transition select(window[319:312]) {
            TCP_OPTION_EOL : walked;
            TCP_OPTION_NOP : step;
            default        : check_length;
        }
    }

    state check_length {
        length = window[311:304];
        transition select(length >= 2 && length <= size - at) {
            true  : note;
            false : malformed;
        }
    }

    // A second TCP-INT option is malformed, as is one of another length.
    state note {
        transition select(window[319:312], length, int_at == size) {
            (TCP_OPTION_INT, TCP_INT_LENGTH, true) : note_int;
            (TCP_OPTION_INT, _,              _)    : malformed;
            default                                : step;
        }
    }

    state note_int { int_at = at; transition step; }

    // Two shifts by half the bits, because BMv2 shifts by at most 255.
    state step {
        window = (window << (length << 2)) << (length << 2);
        at     = at + length;
        transition walk;
    }

    state walked {
        transition select(int_at == size) {
            true  : accept;
            false : extract_int;
        }
    }

    state extract_int {
        packet.extract(hdr.tcp_before, (bit<32>) int_at << 3);
        packet.extract(hdr.tcp_int);
        meta.tcp_int_at_odd = int_at[0:0];
        transition accept;
    }

    state malformed {
        meta.options_malformed = 1;
        transition accept;
    }
}

#endif
