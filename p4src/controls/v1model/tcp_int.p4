// v1model: TCP-INT (p4lang/p4app-TCP-INT). A hop adds its latency to a TCP option's, and writes its utilisation, or its
// queue's length, if that is worse than what the packet carries.

#ifndef WAYMARK_V1MODEL_TCP_INT_P4
#define WAYMARK_V1MODEL_TCP_INT_P4

#include <v1model.p4>
#include "../../include/constants.p4"
#include "../../include/tcp_int.p4"
#include "../../include/v1model/headers.p4"
#include "../../include/v1model/types.p4"
#include "rate_window.p4"

control TcpInt(inout headers_t hdr,
               in bit<1> at_odd,
               in port_t port,
               in bit<48> now_us,
               in bit<32> waited_us) {
    RateWindow() rate_window;

    // Index: 2 * port + 1 if this hop wrote its value; 2 * port if it only added its latency.
    counter(PORTS * 2, CounterType.packets) tcp_int_marks;

    bit<6>  window_log2;
    bit<64> octet_share;  // an octet's share of TCP_INT_FULL in a window, in units of 2^-40
    bit<64> drain;        // octets that the port sends in a us, in units of 2^-16
    bit<4>  speed;
    bit<32> difference;

    // interval_log2: utilisation is measured over windows of 2^interval_log2 us.
    // per_octet:     127 * 2^40 divided by the octets that the port can send in a window, rounded up.
    // octets_per_us: rate of the port, in units of 2^-16.
    // link_speed:    the code of the port's rate; 0: the rate has no code.
    action write(bit<6> interval_log2, bit<64> per_octet, bit<64> octets_per_us, bit<4> link_speed) {
        window_log2 = interval_log2;
        octet_share = per_octet;
        drain       = octets_per_us;
        speed       = link_speed;
    }

    // A port without an entry changes no packet.
    table tcp_int_port {
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

    // RFC 1624, equation 3: the words of a field before and after the change.
    action change(bit<16> before, bit<16> after) {
        difference = difference + (bit<32>) ~before + (bit<32>) after;
    }

    apply {
        if (hdr.ipv4.isValid() && tcp_int_port.apply().hit) {
            bit<32> last_octets;
            rate_window.apply(port, hdr.ipv4.total_len, now_us, window_log2, last_octets);
            if (hdr.tcp_int.isValid()) {
                bit<16> tags  = hdr.tcp_int.tag_frequency ++ hdr.tcp_int.link_speed ++ hdr.tcp_int.value;
                bit<32> times = hdr.tcp_int.hop ++ hdr.tcp_int.latency;

                bit<40> latency = (bit<40>) hdr.tcp_int.latency + (((bit<40>) waited_us * NS_PER_US) >> 8);
                hdr.tcp_int.latency = latency > (bit<40>) TCP_INT_MAX_LATENCY ? TCP_INT_MAX_LATENCY : latency[23:0];

                // While the packet waited, the port sent the queue in front of it.
                bit<64> utilisation = ((bit<64>) last_octets * octet_share) >> 40;
                bit<64> queue = (((bit<64>) waited_us * drain) >> 16) >> 13;
                bit<8>  own = utilisation > (bit<64>) TCP_INT_FULL ? TCP_INT_FULL : utilisation[7:0];
                if (queue > 0 || own == TCP_INT_FULL) {
                    own = TCP_INT_QUEUE | (queue > (bit<64>) TCP_INT_FULL ? TCP_INT_FULL : queue[7:0]);
                }
                if (own > hdr.tcp_int.value) {
                    hdr.tcp_int.value      = own;
                    hdr.tcp_int.link_speed = speed;
                    hdr.tcp_int.hop        = hdr.ipv4.ttl;
                    tcp_int_marks.count((bit<32>) (port ++ 1w1));
                } else {
                    tcp_int_marks.count((bit<32>) (port ++ 1w0));
                }

                difference = 0;
                change(tags, hdr.tcp_int.tag_frequency ++ hdr.tcp_int.link_speed ++ hdr.tcp_int.value);
                change(times[31:16], hdr.tcp_int.hop ++ hdr.tcp_int.latency[23:16]);
                change(times[15:0], hdr.tcp_int.latency[15:0]);
                // End-around carry. At an odd offset, the octets of each word are swapped (RFC 1071, section 2).
                difference = (difference >> 16) + (bit<32>) difference[15:0];
                difference = (difference >> 16) + (bit<32>) difference[15:0];
                if (at_odd == 1) {
                    difference = (bit<32>) (difference[7:0] ++ difference[15:8]);
                }
                difference = (bit<32>) ~hdr.tcp.checksum + difference;
                difference = (difference >> 16) + (bit<32>) difference[15:0];
                hdr.tcp.checksum = ~difference[15:0];
            }
        }
    }
}

#endif
