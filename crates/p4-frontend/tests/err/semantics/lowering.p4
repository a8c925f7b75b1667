// What only shows when everything is instantiated.
#include "included/arch.p4"
header fixed_h { bit<8> a; }
header loose_h { varbit<32> a; }
struct headers_t { fixed_h fixed; loose_h loose; }
parser Take(packet_in packet, out headers_t hdr, inout intrinsic_t intrinsic) {
    state start {
        packet.extract(hdr.fixed, 8);
        packet.extract(hdr.loose);
        packet.extract(hdr);
        loose_h x = packet.lookahead<loose_h>();
        transition accept;
    }
}
control Nothing(inout headers_t hdr, inout intrinsic_t intrinsic) { apply { } }
control Put(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.fixed.a); } }
Device(Take(), Nothing(), Put()) main;
