// v1model: an admitted packet leaves its queue. The registers are those of admission.p4.

#ifndef WAYMARK_V1MODEL_DEPARTURE_P4
#define WAYMARK_V1MODEL_DEPARTURE_P4

#include <v1model.p4>
#include "../../include/v1model/types.p4"

control Departure(in queue_place_t place, out bit<1> waited_at_refusal)
                 (register<sequence_t> dequeued, register<sequence_t> drop_mark) {
    // One action, as in Admission. Packets up to the tail at the last refusal were waiting then.
    action leave() {
        sequence_t tail_at_refusal;
        dequeued.write(place.queue, place.number);
        drop_mark.read(tail_at_refusal, place.queue);
        waited_at_refusal = place.number <= tail_at_refusal ? 1w1 : 0;
    }

    apply {
        waited_at_refusal = 0;
        if (place.admitted == 1) {
            leave();
        }
    }
}

#endif
