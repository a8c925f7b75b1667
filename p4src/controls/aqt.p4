// AQT, accumulated queueing time (Chan 2004, ch. 3): each hop adds the packet's waiting time.

#ifndef WAYMARK_AQT_P4
#define WAYMARK_AQT_P4

#include "../include/headers.p4"

const bit<24> AQT_MAX_US = 0xFFFFFF;  // "at least this long"

control Aqt(inout aqt_h aqt, in bit<32> waited_us, inout bit<1> marked) {
    apply {
        if (aqt.isValid()) {
            // It saturates, so that a sum never wraps to "no queue".
            bit<32> sum_us = (bit<32>) aqt.aqt_us;
            sum_us = sum_us |+| waited_us;
            bit<8> over = sum_us[31:24];
            if (over == 0) {
                aqt.aqt_us = sum_us[23:0];
            } else {
                aqt.aqt_us = AQT_MAX_US;
            }
            marked = 1;
        }
    }
}

#endif
