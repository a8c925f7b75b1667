// A state that applies a parser is split, which a loop cannot be.
#include "included/arch.p4"
struct headers_t { }
parser Skip(packet_in packet) { state start { packet.advance(8); transition accept; } }
parser Loop(packet_in packet, out headers_t hdr, inout intrinsic_t intrinsic) {
    Skip() skip;
    state start {
        @unroll for (bit<8> i in 0 .. 1) { skip.apply(packet); }
        transition accept;
    }
}
control Nothing(inout headers_t hdr, inout intrinsic_t intrinsic) { apply { } }
control Put(packet_out packet, in headers_t hdr) { apply { } }
Device(Loop(), Nothing(), Put()) main;
