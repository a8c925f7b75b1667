// v1model: AQT in a packet's options, on either side of AVBW-S.

#ifndef WAYMARK_V1MODEL_AQT_OPTION_P4
#define WAYMARK_V1MODEL_AQT_OPTION_P4

#include "../../include/v1model/headers.p4"
#include "../aqt.p4"

control AqtOption(inout options_t options, in bit<32> waited_us, inout bit<1> marked) {
    Aqt() aqt0;
    Aqt() aqt1;

    apply {
        if (options.aqt0.isValid()) {
            aqt0.apply(options.aqt0, waited_us, marked);
        } else {
            aqt1.apply(options.aqt1, waited_us, marked);
        }
    }
}

#endif
