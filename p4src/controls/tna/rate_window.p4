// TNA: octets sent by a port in the last full window of 2^(window_log2 + 10) ns.
//
// A window's name is the time at which it starts, in units of 2^16 ns. Windows alternate between two
// registers, because a packet accesses a register once: it adds to its own window's register, and
// reads the other, which holds the window before unless no packet was sent in that.

#ifndef WAYMARK_TNA_RATE_WINDOW_P4
#define WAYMARK_TNA_RATE_WINDOW_P4

#include "../../include/tna/types.p4"

struct window_t {
    bit<32> start;
    bit<32> octets;
}

control RateWindow(in port_t port,
                   in bit<16> octets,
                   in bit<32> now,          // in units of 2^16 ns
                   in bit<6> window_log2,
                   out window_octets_t last_octets) {
    // Index: port. Writers: add_to_even, add_to_odd.
    Register<window_t, port_t>(PORTS) even_window;
    Register<window_t, port_t>(PORTS) odd_window;

    bit<32> added;
    bit<32> start;
    bit<32> previous;
    bit<32> parity;
    bit<32> length;
    bit<32> last;

    RegisterAction<window_t, port_t, bit<32>>(even_window) add_to_even = {
        void apply(inout window_t window) {
            if (window.start == start) {
                window.octets = window.octets |+| added;
            } else {
                window.octets = added;
            }
            window.start = start;
        }
    };

    RegisterAction<window_t, port_t, bit<32>>(odd_window) add_to_odd = {
        void apply(inout window_t window) {
            if (window.start == start) {
                window.octets = window.octets |+| added;
            } else {
                window.octets = added;
            }
            window.start = start;
        }
    };

    RegisterAction<window_t, port_t, bit<32>>(even_window) read_even = {
        void apply(inout window_t window, out bit<32> read) {
            read = 0;
            if (window.start == previous) {
                read = window.octets;
            }
        }
    };

    RegisterAction<window_t, port_t, bit<32>>(odd_window) read_odd = {
        void apply(inout window_t window, out bit<32> read) {
            read = 0;
            if (window.start == previous) {
                read = window.octets;
            }
        }
    };

    // duration: a power of two, in units of 2^16 ns. mask: its negative.
    action window(bit<32> duration, bit<32> mask) {
        length = duration;
        start  = now & mask;
        parity = now & duration;
    }

    // No variable shifts: a mask for each length. A window of 2^38 µs or more never ends.
    table window_length {
        key = {
            window_log2 : exact @name("window_log2");
        }
        actions = {
            window;
        }
        const default_action = window(0, 0);
        const entries = {
             6 : window(0x00000001, 0xFFFFFFFF);
             7 : window(0x00000002, 0xFFFFFFFE);
             8 : window(0x00000004, 0xFFFFFFFC);
             9 : window(0x00000008, 0xFFFFFFF8);
            10 : window(0x00000010, 0xFFFFFFF0);
            11 : window(0x00000020, 0xFFFFFFE0);
            12 : window(0x00000040, 0xFFFFFFC0);
            13 : window(0x00000080, 0xFFFFFF80);
            14 : window(0x00000100, 0xFFFFFF00);
            15 : window(0x00000200, 0xFFFFFE00);
            16 : window(0x00000400, 0xFFFFFC00);
            17 : window(0x00000800, 0xFFFFF800);
            18 : window(0x00001000, 0xFFFFF000);
            19 : window(0x00002000, 0xFFFFE000);
            20 : window(0x00004000, 0xFFFFC000);
            21 : window(0x00008000, 0xFFFF8000);
            22 : window(0x00010000, 0xFFFF0000);
            23 : window(0x00020000, 0xFFFE0000);
            24 : window(0x00040000, 0xFFFC0000);
            25 : window(0x00080000, 0xFFF80000);
            26 : window(0x00100000, 0xFFF00000);
            27 : window(0x00200000, 0xFFE00000);
            28 : window(0x00400000, 0xFFC00000);
            29 : window(0x00800000, 0xFF800000);
            30 : window(0x01000000, 0xFF000000);
            31 : window(0x02000000, 0xFE000000);
            32 : window(0x04000000, 0xFC000000);
            33 : window(0x08000000, 0xF8000000);
            34 : window(0x10000000, 0xF0000000);
            35 : window(0x20000000, 0xE0000000);
            36 : window(0x40000000, 0xC0000000);
            37 : window(0x80000000, 0x80000000);
        }
        size = 32;
    }

    action shift_0()  { last_octets = last[19:0]; }
    action shift_4()  { last_octets = last[23:4]; }
    action shift_8()  { last_octets = last[27:8]; }
    action shift_12() { last_octets = last[31:12]; }

    // The unit of the key window_octets, by egress port: 1, 16, 256 or 4096 octets. A window of the
    // port has to hold less than 2^20 units.
    table window_unit {
        key = {
            port : exact @name("port");
        }
        actions = {
            shift_0;
            shift_4;
            shift_8;
            shift_12;
        }
        default_action = shift_0();
        size = PORTS;
    }

    apply {
        added = (bit<32>) octets;
        window_length.apply();
        previous = start - length;
        if (parity == 0) {
            add_to_even.execute(port);
            last = read_odd.execute(port);
        } else {
            add_to_odd.execute(port);
            last = read_even.execute(port);
        }
        window_unit.apply();
    }
}

#endif
