// v1model: CSIG, congestion signaling (draft-ravi-ippm-csig-01). A hop compares its own value of the tag's signal
// with the tag's, and writes the worse one, with its locator.

#ifndef WAYMARK_V1MODEL_CSIG_P4
#define WAYMARK_V1MODEL_CSIG_P4

#include <v1model.p4>
#include "../../include/constants.p4"
#include "../../include/csig.p4"
#include "../../include/v1model/headers.p4"
#include "../../include/v1model/types.p4"
#include "rate_window.p4"

// Three signals in 32 ranges each.
const bit<32> CSIG_BANDS = 96;

control Csig(inout headers_t hdr,
             in metadata_t meta,
             in port_t came_by,
             in port_t port,
             in bit<48> now_us,
             in bit<32> waited_us) {
    RateWindow() rate_window;

    // Index: 8 * port + csig_event_t. The port is the one by which the packet leaves.
    counter(PORTS * 8, CounterType.packets) csig_tags;

    bit<3>  own_signal;
    bit<7>  own_locator;
    bit<5>  own_band;
    bit<6>  window_log2;
    bit<32> capacity_octets;  // which the port can send in a window
    bit<64> octet_share;      // an octet's share of them, in units of 2^-48
    bit<32> value;
    bit<1>  strips;

    action insert(bit<3> signal) {
        own_signal = signal;
    }

    // IPv4 packets that come by such a port without a tag get one.
    table csig_insertion {
        key = {
            came_by : exact @name("port");
        }
        actions = {
            insert;
            @defaultonly NoAction;
        }
        const default_action = NoAction();
        size = PORTS;
    }

    // locator:       of this hop, 1 to 127.
    // interval_log2: available bandwidth is measured over 2^interval_log2 us, the same at every hop.
    // capacity:      octets that the port sends in that time.
    // per_octet:     2^48 / capacity.
    // strip:         this hop removes the tag, because the domain ends behind it.
    action write(bit<7> locator, bit<6> interval_log2, bit<32> capacity, bit<64> per_octet, bit<1> strip) {
        own_locator     = locator;
        window_log2     = interval_log2;
        capacity_octets = capacity;
        octet_share     = per_octet;
        strips          = strip;
    }

    // A port without an entry changes no tags.
    table csig_port {
        key = {
            port : exact @name("port");
        }
        actions = {
            write;
            @defaultonly NoAction;
        }
        const default_action = NoAction();
        size = PORTS;
    }

    action set_band(bit<5> band) {
        own_band = band;
    }

    // The quantiser, the same at every hop. Values are octets in an interval, 2^-16 of the capacity, and us. A value
    // without a range changes no tag.
    table csig_band {
        key = {
            hdr.csig.signal : exact @name("signal");
            value           : range @name("value");
        }
        actions = {
            set_band;
            @defaultonly NoAction;
        }
        const default_action = NoAction();
        size = CSIG_BANDS;
    }

    apply {
        if (hdr.ipv4.isValid() && !hdr.csig.isValid()) {
            if (csig_insertion.apply().hit) {
                bit<5> least = CSIG_MOST;
                if (own_signal == csig_signal_t.DELAY) {
                    least = CSIG_LEAST;
                }
                hdr.csig.setValid();
                hdr.csig = { own_signal, 0, least, CSIG_NO_HOP, meta.ether_type };
                if (hdr.vlan.isValid()) {
                    hdr.vlan.ether_type = ETHER_TYPE_CSIG;
                } else {
                    hdr.ethernet.ether_type = ETHER_TYPE_CSIG;
                }
                csig_tags.count((bit<32>) (port ++ (bit<3>) csig_event_t.INSERTED));
            }
        }
        if (csig_port.apply().hit) {
            bit<32> last_octets = 0;
            if (hdr.ipv4.isValid()) {
                bit<16> octets = hdr.ipv4.total_len;
                if (hdr.csig.isValid()) {
                    octets = octets |+| CSIG_LENGTH;
                }
                rate_window.apply(port, octets, now_us, window_log2, last_octets);
            }
            if (hdr.csig.isValid()) {
                bit<32> available = capacity_octets |-| last_octets;
                value = waited_us;
                if (hdr.csig.signal == csig_signal_t.AVAILABLE) {
                    value = available;
                } else if (hdr.csig.signal == csig_signal_t.AVAILABLE_SHARE) {
                    value = (bit<32>) (((bit<64>) available * octet_share) >> 32);
                }
                if (hdr.csig.signal > (bit<3>) csig_signal_t.DELAY) {
                    csig_tags.count((bit<32>) (port ++ (bit<3>) csig_event_t.UNKNOWN));
                } else if (csig_band.apply().hit) {
                    if ((hdr.csig.signal == csig_signal_t.DELAY && own_band > hdr.csig.band)
                            || (hdr.csig.signal != csig_signal_t.DELAY && own_band < hdr.csig.band)) {
                        hdr.csig.band    = own_band;
                        hdr.csig.locator = own_locator;
                        csig_tags.count((bit<32>) (port ++ hdr.csig.signal));
                    }
                }
                if (strips == 1) {
                    if (hdr.vlan.isValid()) {
                        hdr.vlan.ether_type = meta.ether_type;
                    } else {
                        hdr.ethernet.ether_type = meta.ether_type;
                    }
                    hdr.csig.setInvalid();
                    csig_tags.count((bit<32>) (port ++ (bit<3>) csig_event_t.REMOVED));
                }
            }
        }
    }
}

#endif
