// AQT, accumulated queueing time (Chan 2004, ch. 3): each hop adds the packet's waiting time.
// router.p4 includes this file, and applies Aqt in the egress, when the packet has left its queue.

#ifndef WAYMARK_AQT_P4
#define WAYMARK_AQT_P4

const bit<32> AQT_MAX_US = 0xFFFFFF;  // "at least this long": 24 bits

// aqt: the packet's option, if it has one; its field aqt_us has 24 bits.
// waited_us: how long the packet waited in this router's queue, in microseconds.
// marked: set it to 1 if the option was written; the router counts such packets.
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
