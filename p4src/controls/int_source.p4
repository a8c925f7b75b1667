// INT source: opens a stack in packets that a table chooses (INT 2.1, section 4.2).

#ifndef WAYMARK_INT_SOURCE_P4
#define WAYMARK_INT_SOURCE_P4

#include "../include/int.p4"
#include "../include/headers.p4"

control IntSource(inout ipv4_h ipv4,
                  inout int_telemetry_t telemetry,
                  inout int_change_t change,
                  in port_t came_by) {
    bit<16> dst_port = 0;

    // hops:    how many hops may write a record.
    // words:   length of each hop's record, which follows from the instructions.
    // domain:  identifier of the domain; 0 if there are no domain_instructions.
    action start(bit<8> hops, bit<5> words, bit<16> instructions, bit<16> domain,
                 bit<16> domain_instructions) {
        telemetry.shim.setValid();
        telemetry.shim.kind      = int_kind_t.HOP_BY_HOP;
        telemetry.shim.next_type = INT_NEXT_TYPE_DSCP;
        telemetry.shim.reserved0 = 0;
        telemetry.shim.words     = INT_HEADER_WORDS;
        telemetry.shim.reserved1 = 0;
        telemetry.shim.dscp      = ipv4.dscp;
        telemetry.shim.reserved2 = 0;
        telemetry.md.setValid();
        telemetry.md.version             = INT_VERSION;
        telemetry.md.discard             = 0;
        telemetry.md.exhausted           = 0;
        telemetry.md.too_long            = 0;
        telemetry.md.reserved            = 0;
        telemetry.md.hop_words           = words;
        telemetry.md.remaining           = hops;
        telemetry.md.instructions        = instructions;
        telemetry.md.domain              = domain;
        telemetry.md.domain_instructions = domain_instructions;
        telemetry.md.domain_flags        = 0;
        ipv4.dscp = INT_DSCP;
        change.added = change.added + 16;
        change.sum   = change.sum
            + 0x1003                                   // type 1, 3 words
            + (bit<32>) (telemetry.shim.dscp ++ 2w0)
            + 0x2000                                   // version 2
            + (bit<32>) (words ++ hops)
            + (bit<32>) instructions
            + (bit<32>) domain
            + (bit<32>) domain_instructions;
    }

    // Applied to TCP and UDP packets without telemetry.
    table int_source {
        key = {
            came_by       : exact   @name("port");
            ipv4.protocol : ternary @name("protocol");
            ipv4.dscp     : ternary @name("dscp");
            dst_port      : range   @name("dst_port");
        }
        actions = {
            start;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        size = 1024;
    }

    apply {
        dst_port = telemetry.tcp.isValid() ? telemetry.tcp.dst_port : telemetry.udp.dst_port;
        int_source.apply();
    }
}

#endif
