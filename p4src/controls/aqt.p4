// AQT, accumulated queueing time (Chan 2004, ch. 3): each hop adds the packet's waiting time.

#ifndef WAYMARK_AQT_P4
#define WAYMARK_AQT_P4

#include "../include/headers.p4"

const bit<32> AQT_MAX_US = 0xFFFFFF;  // "at least this long": 24 bits

control Aqt(inout aqt_h aqt, in bit<32> waited_us, inout bit<1> marked) {
    apply {
        if (aqt.isValid()) {
            // Neither the sum nor its limit wraps to "no queue".
            bit<32> sum_us = (bit<32>) aqt.aqt_us |+| waited_us;
            sum_us     = sum_us < AQT_MAX_US ? sum_us : AQT_MAX_US;
            aqt.aqt_us = (bit<24>) sum_us;
            marked     = 1;
        }
    }
}

#endif
