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
        // TODO 1: most packets have no AQT option. Only a valid one may be written.

        // TODO 2: add waited_us to aqt.aqt_us. The sum of several hops must not overflow: beyond
        // AQT_MAX_US it stays there, because a small number would mean "no queue".
    }
}

#endif
