// TNA: how long a packet waited in this hop, in µs.
//
// A tick is 256 ns, and a µs is 3.90625 ticks. 1.024 is 1 + 1/64 + 1/128 + 1/2048 less 0.0073 %, so
// ticks are first scaled to quarters of a µs. The error is below 1 µs + 0.0073 %: a tick for the two
// timestamps, and the remainders of four shifts, centred by adding 3.

#ifndef WAYMARK_TNA_QUEUE_TIME_P4
#define WAYMARK_TNA_QUEUE_TIME_P4

#include "../../include/tna/types.p4"

// From the ingress parser to the egress parser without a queue. It depends on the switch and the
// program; docs/tofino.md says how to measure it.
#ifndef PIPELINE_TICKS
#define PIPELINE_TICKS 0
#endif

control QueueTime(in ticks_t arrived, in ticks_t now, out bit<32> waited_us) {
    apply {
        ticks_t waited = now - arrived;
        waited = waited |-| PIPELINE_TICKS;
        bit<32> per_64   = waited >> 6;
        bit<32> per_128  = waited >> 7;
        bit<32> per_2048 = waited >> 11;
        bit<32> most     = waited + per_64;
        bit<32> rest     = per_128 + per_2048;
        rest      = rest + 3;
        most      = most + rest;
        waited_us = most >> 2;
    }
}

#endif
