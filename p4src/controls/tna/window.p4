// TNA: the windows of 2^(window_log2 + 10) ns in which a port's octets are counted. Windows are even and
// odd in turn. An even window is identified by the tick at which it starts, an odd one by the tick at which it
// ends: one mask then yields a packet's window and the one before, in one stage less than a subtraction.

#ifndef WAYMARK_TNA_WINDOW_P4
#define WAYMARK_TNA_WINDOW_P4

#include "../../include/tna/types.p4"

control Window(in ticks_t now, in bit<6> window_log2, out window_t window) {
    ticks_t one_later;
    ticks_t pair_mask;

    // length: a power of two, in ticks. mask: selects a pair of windows: -2 * length. Windows on both
    // sides of tick 2^32 are adjacent.
    action set_length(ticks_t length, ticks_t mask) {
        window.is_odd     = now & length;
        window.even_start = now & mask;
        one_later         = now + length;
        pair_mask         = mask;
    }

    // There are no variable shifts, so each length has its mask. A window of 2^30 µs or more never ends.
    table window_length {
        key = {
            window_log2 : exact @name("window_log2");
        }
        actions = {
            set_length;
        }
        const default_action = set_length(0, 0);
        const entries = {
             0 : set_length(0x00000004, 0xFFFFFFF8);
             1 : set_length(0x00000008, 0xFFFFFFF0);
             2 : set_length(0x00000010, 0xFFFFFFE0);
             3 : set_length(0x00000020, 0xFFFFFFC0);
             4 : set_length(0x00000040, 0xFFFFFF80);
             5 : set_length(0x00000080, 0xFFFFFF00);
             6 : set_length(0x00000100, 0xFFFFFE00);
             7 : set_length(0x00000200, 0xFFFFFC00);
             8 : set_length(0x00000400, 0xFFFFF800);
             9 : set_length(0x00000800, 0xFFFFF000);
            10 : set_length(0x00001000, 0xFFFFE000);
            11 : set_length(0x00002000, 0xFFFFC000);
            12 : set_length(0x00004000, 0xFFFF8000);
            13 : set_length(0x00008000, 0xFFFF0000);
            14 : set_length(0x00010000, 0xFFFE0000);
            15 : set_length(0x00020000, 0xFFFC0000);
            16 : set_length(0x00040000, 0xFFF80000);
            17 : set_length(0x00080000, 0xFFF00000);
            18 : set_length(0x00100000, 0xFFE00000);
            19 : set_length(0x00200000, 0xFFC00000);
            20 : set_length(0x00400000, 0xFF800000);
            21 : set_length(0x00800000, 0xFF000000);
            22 : set_length(0x01000000, 0xFE000000);
            23 : set_length(0x02000000, 0xFC000000);
            24 : set_length(0x04000000, 0xF8000000);
            25 : set_length(0x08000000, 0xF0000000);
            26 : set_length(0x10000000, 0xE0000000);
            27 : set_length(0x20000000, 0xC0000000);
            28 : set_length(0x40000000, 0x80000000);
            29 : set_length(0x80000000, 0x00000000);
        }
        size = 32;
    }

    apply {
        window_length.apply();
        window.odd_end = one_later & pair_mask;
    }
}

#endif
