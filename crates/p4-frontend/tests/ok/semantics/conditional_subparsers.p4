#include "included/bare.p4"

// A state for each branch, and one for what follows both.
parser One(packet_in packet, out pair_h pair) {
    state start { packet.extract(pair); transition accept; }
}
parser Take(packet_in packet, out headers_t hdr, inout intrinsic_t intrinsic) {
    One() one;
    state start {
        if (intrinsic.port == 1) {
            intrinsic.to = 1;
            one.apply(packet, hdr.pair);
        } else if (intrinsic.port == 2) {
            intrinsic.to = 2;
        } else {
            one.apply(packet, hdr.other);
        }
        if (intrinsic.port == 3) { intrinsic.to = 3; }
        transition accept;
    }
}
control Nothing(inout headers_t hdr, inout intrinsic_t intrinsic) { apply { } }
Device(Take(), Nothing(), PutPair()) main;
