// TNA: octets sent by a port in the last full window.
//
// A packet accesses a register once: it adds to its own window's register, and reads the other, which
// contains the octets of the window before, unless no packet was sent in that window.

#ifndef WAYMARK_TNA_RATE_WINDOW_P4
#define WAYMARK_TNA_RATE_WINDOW_P4

#include "../../include/tna/types.p4"

struct sent_t {
    ticks_t window;  // even_start or odd_end
    bit<32> octets;
}

control RateWindow(in port_t port,
                   in bit<32> octets,
                   in window_t window,
                   out window_octets_t last_octets) {
    // Index: port.
    Register<sent_t, port_t>(PORTS) even_window;
    Register<sent_t, port_t>(PORTS) odd_window;

    bit<32> last;

    RegisterAction<sent_t, port_t, bit<32>>(even_window) add_to_even = {
        void apply(inout sent_t sent) {
            if (sent.window == window.even_start) {
                sent.octets = sent.octets |+| octets;
            } else {
                sent.octets = octets;
            }
            sent.window = window.even_start;
        }
    };

    RegisterAction<sent_t, port_t, bit<32>>(even_window) read_even = {
        void apply(inout sent_t sent, out bit<32> read) {
            read = 0;
            if (sent.window == window.even_start) {
                read = sent.octets;
            }
        }
    };

    RegisterAction<sent_t, port_t, bit<32>>(odd_window) add_to_odd = {
        void apply(inout sent_t sent) {
            if (sent.window == window.odd_end) {
                sent.octets = sent.octets |+| octets;
            } else {
                sent.octets = octets;
            }
            sent.window = window.odd_end;
        }
    };

    RegisterAction<sent_t, port_t, bit<32>>(odd_window) read_odd = {
        void apply(inout sent_t sent, out bit<32> read) {
            read = 0;
            if (sent.window == window.odd_end) {
                read = sent.octets;
            }
        }
    };

    action shift_0()  { last_octets = last[15:0]; }
    action shift_8()  { last_octets = last[23:8]; }
    action shift_16() { last_octets = last[31:16]; }

    // The unit of the key window_octets, by egress port: 1, 256 or 65536 octets. A window of the port
    // has to hold less than 2^16 units.
    table window_unit {
        key = {
            port : exact @name("port");
        }
        actions = {
            shift_0;
            shift_8;
            shift_16;
        }
        default_action = shift_0();
        size = PORTS;
    }

    apply {
        if (window.is_odd == 0) {
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
