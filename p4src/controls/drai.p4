// DRAI, data rate adjustment index (Lien and Chung): a path's index is the minimum of its hops'.
//
// The architecture's types.p4 has window_octets_t and DRAI_ENTRIES. Its depths are in packets or cells.

#ifndef WAYMARK_DRAI_P4
#define WAYMARK_DRAI_P4

#include "../include/headers.p4"

control Drai(inout avbw_h avbw,
             in port_t port,
             in bit<19> queue_depth,            // waiting behind this packet
             in window_octets_t window_octets,  // sent in the last full window
             inout bit<1> marked) {
    // index: 1, aggressive deceleration, to 6, aggressive acceleration.
    action set_index(bit<8> index) {
        avbw.drai = index < avbw.drai ? index : avbw.drai;
        marked    = 1;
    }

    // If no range matches, this hop does not change the index.
    table drai {
        key = {
            port          : exact @name("port");
            queue_depth   : range @name("queue_depth");
            window_octets : range @name("window_octets");
        }
        actions = {
            set_index;
            @defaultonly NoAction;
        }
        const default_action = NoAction();
        size = DRAI_ENTRIES;
    }

    apply {
        if (avbw.isValid()) {
            drai.apply();
        }
    }
}

#endif
