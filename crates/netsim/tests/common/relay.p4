// What comes in by port 1 leaves by port 2, and back.
#include <core.p4>
#include <v1model.p4>
struct headers { }
struct metadata { }
parser P(packet_in p, out headers h, inout metadata m, inout standard_metadata_t s) {
    state start { transition accept; }
}
control V(inout headers h, inout metadata m) { apply { } }
control I(inout headers h, inout metadata m, inout standard_metadata_t s) {
    apply { s.egress_spec = 3 - s.ingress_port; }
}
control E(inout headers h, inout metadata m, inout standard_metadata_t s) { apply { } }
control D(packet_out p, in headers h) { apply { } }
V1Switch(P(), V(), I(), E(), V(), D()) main;
