#include <tna.p4>
#include "queue.p4"

Switch(
    Pipeline(
        IngressParser(), Ingress(), IngressDeparser(),
        EgressParser(), Egress(), EgressDeparser()
    )
) main;
