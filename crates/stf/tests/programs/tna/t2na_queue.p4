#include <t2na.p4>
#include "queue.p4"

// Looks up what the traffic manager says of a queue.
control Watch(in ghost_intrinsic_metadata_t queue) {
    table lengths {
        key = {
            queue.ping_pong: exact;
            queue.qlength: exact;
            queue.qid: exact;
            queue.pipe_id: exact;
        }
        actions = { NoAction; }
        size = 1;
    }
    apply {
        lengths.apply();
    }
}

Switch(
    Pipeline(
        IngressParser(), Ingress(), IngressDeparser(),
        EgressParser(), Egress(), EgressDeparser(),
        Watch()
    )
) main;
