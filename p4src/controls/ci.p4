// CI, congestion indication (Chan 2004, ch. 6): marks exactly the capable packets that were waiting
// when another packet was refused because the queue was full.

#ifndef WAYMARK_CI_P4
#define WAYMARK_CI_P4

#include "../include/headers.p4"

// The ECN field as CI uses it. 0b00 and 0b01 are not capable.
const bit<2> CI_CAPABLE     = 0b10;
const bit<2> CI_EXPERIENCED = 0b11;

control Ci(inout ipv4_h ipv4, in bit<1> waited_at_refusal, inout bit<1> marked) {
    apply {
        if (waited_at_refusal == 1 && ipv4.ecn == CI_CAPABLE) {
            ipv4.ecn = CI_EXPERIENCED;
            marked   = 1;
        }
    }
}

#endif
