// v1model: admission to a queue, drop-tail.
//
// A program cannot see tail drops of the traffic manager, nor access a packet that already waits.
// It therefore tracks each queue's occupancy itself, by numbering packets:
//
//   register    contents                                       written by
//   tail        the number of the last admitted packet         Admission
//   dequeued    the number of the last packet that left        Departure
//   drop_mark   the tail when a packet was last refused        Admission
//
// Occupancy is tail - dequeued: the waiting packets, without the one in service. `dequeued` is a
// packet's number instead of a count, so that the next packet corrects the error after a loss.

#ifndef WAYMARK_V1MODEL_ADMISSION_P4
#define WAYMARK_V1MODEL_ADMISSION_P4

control Admission(in port_t port,
                  in priority_t priority,
                  inout queue_place_t place,
                  inout drop_cause_t drop_cause)
                 (register<sequence_t> tail,
                  register<sequence_t> dequeued,
                  register<sequence_t> drop_mark) {
    // One action, because BMv2 locks registers for one action: no other packet comes in between.
    action drop_tail(sequence_t max_waiting) {
        sequence_t last_admitted;
        sequence_t last_dequeued;
        place.queue = (bit<32>) (port ++ priority);
        tail.read(last_admitted, place.queue);
        dequeued.read(last_dequeued, place.queue);
        // TODO 1: how many packets wait now? If max_waiting or more do, refuse this one: set
        // drop_cause to drop_cause_t.QUEUE_FULL.
        // TODO 2: a refused packet leaves a note for those that wait: write the number of the last
        // admitted packet into drop_mark. A packet that is admitted writes nothing there.
        place.admitted = 1;
        place.number   = last_admitted + 1;
        tail.write(place.queue, place.number);
    }

    // max_waiting is 1 or more; ns-2's queue limit L counts the packet in service: write L - 1.
    table port_queue {
        key = {
            port : exact @name("port");
        }
        actions = {
            drop_tail;
        }
        default_action = drop_tail(UNLIMITED);
        size = PORTS;
    }

    apply {
        port_queue.apply();
    }
}

#endif
