// v1model: INT sink: removes the whole stack from a packet, and restores its DSCP (INT 2.1, section 4.2).

#ifndef WAYMARK_V1MODEL_INT_SINK_P4
#define WAYMARK_V1MODEL_INT_SINK_P4

#include <v1model.p4>
#include "../../include/v1model/int.p4"

control IntSink(inout ipv4_h ipv4, inout int_telemetry_t telemetry, inout int_change_t change) {
    bit<16> records;  // the complement of the sum of the words of the records

    // Subtracts the records, and the words of the shim and the header that can be nonzero.
    apply {
        hash(records, HashAlgorithm.csum16, 16w0, { telemetry.stack.records }, 32w65536);
        change.removed = ((bit<16>) telemetry.shim.words + (bit<16>) INT_SHIM_WORDS) << 2;
        change.sum = change.sum + (bit<32>) records
            + (bit<32>) ~((bit<4>) telemetry.shim.kind ++ telemetry.shim.next_type
                          ++ telemetry.shim.reserved0 ++ telemetry.shim.words)
            + (bit<32>) ~(telemetry.shim.reserved1 ++ telemetry.shim.dscp ++ telemetry.shim.reserved2)
            + (bit<32>) ~(telemetry.md.version ++ telemetry.md.discard ++ telemetry.md.exhausted
                          ++ telemetry.md.too_long ++ telemetry.md.reserved[11:3])
            + (bit<32>) ~(telemetry.md.reserved[2:0] ++ telemetry.md.hop_words
                          ++ telemetry.md.remaining)
            + (bit<32>) ~telemetry.md.instructions
            + (bit<32>) ~telemetry.md.domain
            + (bit<32>) ~telemetry.md.domain_instructions
            + (bit<32>) ~telemetry.md.domain_flags;
        ipv4.dscp = telemetry.shim.dscp;
        telemetry.shim.setInvalid();
        telemetry.md.setInvalid();
        telemetry.stack.setInvalid();
    }
}

#endif
