// The lengths and the transport checksum of a packet whose telemetry has changed. Telemetry is payload to TCP and UDP
// (INT 2.1, section 5.5). The checksum is updated by difference (RFC 1624), so that errors stay visible.

#ifndef WAYMARK_INT_LENGTHS_P4
#define WAYMARK_INT_LENGTHS_P4

#include "../include/int.p4"
#include "../include/headers.p4"

control IntLengths(inout ipv4_h ipv4, inout int_telemetry_t telemetry, in int_change_t change) {
    bit<32> sum;

    // The sum of the words, to 16 bits with the carries.
    action fold() {
        sum = (sum & 0xFFFF) + (sum >> 16);
        sum = (sum & 0xFFFF) + (sum >> 16);
    }

    apply {
        // The pseudo-header has the length.
        bit<32> longer = (bit<32>) change.added + (bit<32>) ~change.removed;
        ipv4.total_len = ipv4.total_len + change.added - change.removed;
        sum = change.sum + longer;
        if (telemetry.tcp.isValid()) {
            sum = sum + (bit<32>) ~telemetry.tcp.checksum;
            fold();
            telemetry.tcp.checksum = ~sum[15:0];
        } else {
            telemetry.udp.length = telemetry.udp.length + change.added - change.removed;
            if (telemetry.udp.checksum != 0) {
                sum = sum + longer + (bit<32>) ~telemetry.udp.checksum;
                fold();
                telemetry.udp.checksum = sum[15:0] == 0xFFFF ? 0xFFFF : ~sum[15:0];
            }
        }
    }
}

#endif
