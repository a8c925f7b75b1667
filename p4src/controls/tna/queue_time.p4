// TNA: how long a packet waited in this hop, in µs.
//
// A tick is 256 ns, and a µs is 3.90625 ticks. 1.024 is 1 + 1/64 + 1/128 + 1/2048 and 0.0073 %, so
// ticks are first scaled to quarters of a µs. The error is below 1 µs and 0.03 %: a tick for the two
// timestamps, and the remainders of four shifts, which ROUNDING_TICKS centres.

#ifndef WAYMARK_TNA_QUEUE_TIME_P4
#define WAYMARK_TNA_QUEUE_TIME_P4

#include "../../include/tna/types.p4"

control QueueTime(in ticks_t arrived, in ticks_t now, out bit<32> waited_us) {
    ticks_t waited;
    bit<32> per_64;
    bit<32> per_128;
    bit<32> per_2048;

    // One action for each stage.
    action subtract() { waited = now - arrived; }
    action shift() {
        per_64   = waited >> 6;
        per_128  = waited >> 7;
        per_2048 = waited >> 11;
    }
    action add_in_pairs() {
        waited  = waited + per_64;
        per_128 = per_128 + per_2048;
    }
    action add_pairs()     { waited = waited + per_128; }
    action from_quarters() { waited_us = waited >> 2; }

    apply {
        subtract();
        shift();
        add_in_pairs();
        add_pairs();
        from_quarters();
    }
}

#endif
