// v1model: parses IPv4 options in any order, and preserves every octet.
//
// The parser looks ahead at all option octets and walks the list in that copy to find where AQT and
// AVBW-S begin. Only then it extracts: the marks as headers, the runs around them unchanged.
// A malformed list is extracted as one run, so that no later step finds a mark in it.

#ifndef WAYMARK_V1MODEL_OPTIONS_PARSER_P4
#define WAYMARK_V1MODEL_OPTIONS_PARSER_P4

#include "../../include/constants.p4"
#include "../../include/v1model/headers.p4"

// Expects a verified IHL of 5 or more. A truncated header ends in error.PacketTooShort.
parser OptionsParser(packet_in packet,
                     in bit<4> ihl,
                     out options_t options,
                     out bit<1> malformed) {
    bit<320> window;   // the octets from `at` on, then zeros: the end reads as EOL
    bit<8>   size;     // octets of all options
    bit<8>   at;       // octets walked, later extracted
    bit<8>   length;   // octets of the option at `at`
    bit<8>   aqt_at;   // where AQT begins; `size` when there is none
    bit<8>   avbw_at;  // likewise AVBW-S

    state start {
        malformed = 0;
        size      = ((bit<8>) ihl - 5) << 2;
        at        = 0;
        aqt_at    = size;
        avbw_at   = size;
        transition select(ihl) {
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

    // Looking ahead by one octet more than the header could exceed the packet.
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

    // ---- walk ----

    state walk {
        length = 1;
        transition select(window[319:312]) {
            OPTION_EOL : walked;  // what follows is padding
            OPTION_NOP : step;
            default    : check_length;
        }
    }

    state check_length {
        length = window[311:304];
        transition select(length >= 2 && length <= size - at) {
            true  : note;
            false : whole;
        }
    }

    // A second option of a kind is malformed, as is one of another length.
    state note {
        transition select(window[319:312], length, aqt_at == size, avbw_at == size) {
            (OPTION_AQT,  AQT_LENGTH,  true, _   ) : note_aqt;
            (OPTION_AVBW, AVBW_LENGTH, _,    true) : note_avbw;
            (OPTION_AQT,  _,           _,    _   ) : whole;
            (OPTION_AVBW, _,           _,    _   ) : whole;
            default                                : step;
        }
    }

    state note_aqt  { aqt_at  = at; transition step; }
    state note_avbw { avbw_at = at; transition step; }

    // Two shifts by half the bits, because BMv2 shifts by at most 255.
    state step {
        window = (window << (length << 2)) << (length << 2);
        at     = at + length;
        transition walk;
    }

    // ---- extract ----

    state walked {
        at = 0;
        transition select(aqt_at < avbw_at, avbw_at < aqt_at) {
            (true, _   ) : aqt_first;
            (_,    true) : avbw_first;
            default      : rest;
        }
    }

    state aqt_first {
        packet.extract(options.before, (bit<32>) aqt_at << 3);
        packet.extract(options.aqt0);
        at = aqt_at + AQT_LENGTH;
        transition select(avbw_at == size) {
            true  : rest;
            false : avbw_second;
        }
    }

    state avbw_second {
        packet.extract(options.between0, (bit<32>) (avbw_at - at) << 3);
        packet.extract(options.avbw);
        at = avbw_at + AVBW_LENGTH;
        transition rest;
    }

    state avbw_first {
        packet.extract(options.before, (bit<32>) avbw_at << 3);
        packet.extract(options.avbw);
        at = avbw_at + AVBW_LENGTH;
        transition select(aqt_at == size) {
            true  : rest;
            false : aqt_second;
        }
    }

    state aqt_second {
        packet.extract(options.between1, (bit<32>) (aqt_at - at) << 3);
        packet.extract(options.aqt1);
        at = aqt_at + AQT_LENGTH;
        transition rest;
    }

    state whole {
        malformed = 1;
        at        = 0;
        transition rest;
    }

    state rest {
        packet.extract(options.after, (bit<32>) (size - at) << 3);
        transition accept;
    }
}

#endif
