// AQT, accumulated queueing time (Chan 2004, ch. 3): each hop adds the packet's waiting time.

#ifndef WAYMARK_AQT_P4
#define WAYMARK_AQT_P4

#include "../include/headers.p4"

const bit<24> AQT_MAX_US = 0xFFFFFF;  // "at least this long"

control Aqt(inout options_t options, in bit<32> waited_us, inout bit<1> marked) {
    apply {
        bit<24> added_us = AQT_MAX_US;
        if (waited_us < (bit<32>) AQT_MAX_US) {
            added_us = (bit<24>) waited_us;
        }
        // |+| saturates at AQT_MAX_US, so that a sum never wraps to "no queue".
        if (options.aqt0.isValid()) {
            options.aqt0.aqt_us = options.aqt0.aqt_us |+| added_us;
            marked = 1;
        }
        if (options.aqt1.isValid()) {
            options.aqt1.aqt_us = options.aqt1.aqt_us |+| added_us;
            marked = 1;
        }
    }
}

#endif
