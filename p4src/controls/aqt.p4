// AQT, accumulated queueing time (Chan 2004, ch. 3): each hop adds what the packet waited there.

#ifndef WAYMARK_AQT_P4
#define WAYMARK_AQT_P4

#include "../include/constants.p4"
#include "../include/headers.p4"

control Aqt(inout headers_t hdr, in bit<32> waited_us, inout bit<1> marked) {
    apply {
        bit<24> added_us = AQT_MAX_US;
        if (waited_us < (bit<32>) AQT_MAX_US) {
            added_us = (bit<24>) waited_us;
        }
        // |+| stays at AQT_MAX_US: a sum never wraps to "no queue at all".
        if (hdr.aqt0.isValid()) {
            hdr.aqt0.aqt_us = hdr.aqt0.aqt_us |+| added_us;
            marked = 1;
        }
        if (hdr.aqt1.isValid()) {
            hdr.aqt1.aqt_us = hdr.aqt1.aqt_us |+| added_us;
            marked = 1;
        }
    }
}

#endif
