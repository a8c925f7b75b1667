// v1model: octets sent by a port in the last full window of 2^window_log2 µs.

#ifndef WAYMARK_V1MODEL_RATE_WINDOW_P4
#define WAYMARK_V1MODEL_RATE_WINDOW_P4

#include <v1model.p4>
#include "../../include/constants.p4"
#include "../../include/v1model/types.p4"

control RateWindow(in port_t port,
                   in bit<16> octets,
                   in bit<48> now_us,
                   in bit<6> window_log2,
                   out bit<32> last_octets) {
    // Index: port. Writer: add_octets, below.
    register<bit<48>>(PORTS) window_number;
    register<bit<32>>(PORTS) window_octets;       // so far in that window
    register<bit<32>>(PORTS) last_window_octets;  // in the one before it

    action add_octets() {
        bit<32> index = (bit<32>) port;
        bit<48> number;
        bit<32> so_far;
        window_number.read(number, index);
        window_octets.read(so_far, index);
        last_window_octets.read(last_octets, index);
        bit<48> number_now = now_us >> window_log2;
        if (number_now != number) {
            // A window without a sent packet has no packet to close it; it counts 0.
            last_octets = number_now == number + 1 ? so_far : 0;
            so_far      = 0;
        }
        window_number.write(index, number_now);
        window_octets.write(index, so_far |+| (bit<32>) octets);
        last_window_octets.write(index, last_octets);
    }

    apply {
        add_octets();
    }
}

#endif
