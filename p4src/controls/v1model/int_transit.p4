// v1model: INT transit: pushes this hop's record onto the stack, in front of earlier ones (INT 2.1, section 5.7).
//
// A record is written completely or not at all. The values of unsupported instructions are all ones.

#ifndef WAYMARK_V1MODEL_INT_TRANSIT_P4
#define WAYMARK_V1MODEL_INT_TRANSIT_P4

#include <v1model.p4>
#include "../../include/v1model/int.p4"

// The state of a packet at its departure.
struct int_hop_t {
    bit<32> node;
    bit<32> rate_kbps;
    bit<32> left_behind;  // octets in the queue
    bit<32> sent_octets;
}

// Whether a record can be written, and how long it is.
control IntCheck(inout int_telemetry_t telemetry,
                 in bit<16> total_len,
                 in bit<16> mtu,
                 inout int_change_t change,
                 out bit<1> writes,
                 out int_event_t event) {
    bit<8> words = 0;

    // Instructions 4 to 6 add 8 octets each.
    action measure() {
        bit<16> asked = telemetry.md.instructions;
        words = (bit<8>) asked[15:15] + (bit<8>) asked[14:14] + (bit<8>) asked[13:13]
              + (bit<8>) asked[12:12] + (bit<8>) (asked[11:11] ++ 1w0) + (bit<8>) (asked[10:10] ++ 1w0)
              + (bit<8>) (asked[9:9] ++ 1w0) + (bit<8>) asked[8:8] + (bit<8>) asked[7:7]
              + (bit<8>) asked[0:0]
              + (bit<8>) telemetry.md.domain_instructions[15:15]
              + (bit<8>) telemetry.md.domain_instructions[14:14];
    }

    apply {
        writes = 0;
        event  = int_event_t.UNSUPPORTED;
        measure();
        bool known_domain = telemetry.md.domain_instructions == 0
            || (telemetry.md.domain == INT_DOMAIN && telemetry.md.domain_instructions[13:0] == 0);
        if (telemetry.md.version == INT_VERSION) {
            if (telemetry.md.remaining == 0) {
                event = int_event_t.EXHAUSTED;
                if (telemetry.md.exhausted == 0) {
                    telemetry.md.exhausted = 1;
                    change.sum = change.sum + 0x0400;
                }
            } else if (telemetry.md.instructions[6:1] == 0 && known_domain && words > 0
                       && words == (bit<8>) telemetry.md.hop_words
                       && telemetry.shim.words <= 255 - words) {
                bit<32> grown = (bit<32>) total_len + (bit<32>) change.added + (bit<32>) (words ++ 2w0);
                if (grown > (bit<32>) mtu) {
                    event = int_event_t.TOO_LONG;
                    if (telemetry.md.too_long == 0) {
                        telemetry.md.too_long = 1;
                        change.sum = change.sum + 0x0200;
                    }
                } else {
                    event  = int_event_t.WRITTEN;
                    writes = 1;
                    change.added = change.added + (bit<16>) (words ++ 2w0);
                    change.sum   = change.sum + (bit<32>) words + 0xFFFE;
                    telemetry.shim.words   = telemetry.shim.words + words;
                    telemetry.md.remaining = telemetry.md.remaining - 1;
                }
            }
        }
    }
}

control IntRecord(inout int_telemetry_t telemetry,
                  in int_hop_t hop,
                  inout int_change_t change,
                  in standard_metadata_t standard_metadata) {
    bit<16> path;

    // The device chooses the units. Times are in ns, computed from clocks with a resolution of 1 µs.
    apply {
        bit<16> asked = telemetry.md.instructions;
        bit<32> sum   = 0;
        if (asked[15:15] == 1) {
            telemetry.record.node.setValid();
            telemetry.record.node.id = hop.node;
            sum = sum + (hop.node >> 16) + (hop.node & 0xFFFF);
        }
        if (asked[14:14] == 1) {
            telemetry.record.ports.setValid();
            telemetry.record.ports.ingress = (bit<16>) standard_metadata.ingress_port;
            telemetry.record.ports.egress  = (bit<16>) standard_metadata.egress_port;
            sum = sum + (bit<32>) standard_metadata.ingress_port
                      + (bit<32>) standard_metadata.egress_port;
        }
        if (asked[13:13] == 1) {
            bit<48> us = standard_metadata.egress_global_timestamp
                       - standard_metadata.ingress_global_timestamp;
            bit<32> ns = us < 4294967 ? (bit<32>) us * 1000 : 0xFFFFFFFE;
            telemetry.record.latency.setValid();
            telemetry.record.latency.ns = ns;
            sum = sum + (ns >> 16) + (ns & 0xFFFF);
        }
        if (asked[12:12] == 1) {
            bit<24> octets = hop.left_behind < 0xFFFFFF ? (bit<24>) hop.left_behind : 0xFFFFFF;
            telemetry.record.queue.setValid();
            telemetry.record.queue.id     = (bit<8>) standard_metadata.priority;
            telemetry.record.queue.octets = octets;
            sum = sum + (bit<32>) ((bit<8>) standard_metadata.priority ++ octets[23:16])
                      + (bit<32>) octets[15:0];
        }
        if (asked[11:11] == 1) {
            bit<64> ns = (bit<64>) standard_metadata.ingress_global_timestamp * 1000;
            telemetry.record.came.setValid();
            telemetry.record.came.ns = ns;
            sum = sum + (bit<32>) ns[63:48] + (bit<32>) ns[47:32] + (bit<32>) ns[31:16]
                      + (bit<32>) ns[15:0];
        }
        if (asked[10:10] == 1) {
            bit<64> ns = (bit<64>) standard_metadata.egress_global_timestamp * 1000;
            telemetry.record.left.setValid();
            telemetry.record.left.ns = ns;
            sum = sum + (bit<32>) ns[63:48] + (bit<32>) ns[47:32] + (bit<32>) ns[31:16]
                      + (bit<32>) ns[15:0];
        }
        // A word of all ones adds 0 to the one's complement sum.
        if (asked[9:9] == 1) {
            telemetry.record.second_ports.setValid();
            telemetry.record.second_ports.value = 0xFFFFFFFFFFFFFFFF;
        }
        if (asked[8:8] == 1) {
            telemetry.record.utilisation.setValid();
            telemetry.record.utilisation.value = 0xFFFFFFFF;
        }
        if (asked[7:7] == 1) {
            telemetry.record.buffer.setValid();
            telemetry.record.buffer.value = 0xFFFFFFFF;
        }
        if (asked[0:0] == 1) {
            telemetry.record.complement.setValid();
            telemetry.record.complement.value = 0xFFFFFFFF;
        }
        if (telemetry.md.domain_instructions != 0) {
            if (telemetry.md.domain_instructions[15:15] == 1) {
                telemetry.record.sent.setValid();
                telemetry.record.sent.octets = hop.sent_octets;
                sum = sum + (hop.sent_octets >> 16) + (hop.sent_octets & 0xFFFF);
            }
            if (telemetry.md.domain_instructions[14:14] == 1) {
                telemetry.record.rate.setValid();
                telemetry.record.rate.kbps = hop.rate_kbps;
                sum = sum + (hop.rate_kbps >> 16) + (hop.rate_kbps & 0xFFFF);
            }
            // HPCC's pathID: equal for packets that took the same ports.
            hash(path, HashAlgorithm.crc16, 16w0,
                 { telemetry.md.domain_flags, hop.node, (bit<16>) standard_metadata.egress_port },
                 32w65536);
            sum = sum + (bit<32>) ~telemetry.md.domain_flags + (bit<32>) path;
            telemetry.md.domain_flags = path;
        }
        change.sum = change.sum + sum;
    }
}

#endif
