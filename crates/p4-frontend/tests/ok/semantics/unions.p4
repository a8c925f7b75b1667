#include "included/arch.p4"
header short_h { bit<8> x; }
header long_h { bit<8> x; bit<24> y; }
header_union either_u { short_h small; long_h large; }
struct headers_t { either_u either; either_u copy; }

parser Take(packet_in packet, out headers_t hdr, inout intrinsic_t intrinsic) {
    state start {
        transition select(packet.lookahead<bit<1>>()) { 0: small; 1: large; }
    }
    state small { packet.extract(hdr.either.small); transition accept; }
    state large { packet.extract(hdr.either.large); transition accept; }
}
control Swap(inout headers_t hdr, inout intrinsic_t intrinsic) {
    apply {
        if (hdr.either.isValid() && hdr.either.large.isValid()) {
            hdr.either.small.setValid();
            hdr.either.small = { x = hdr.either.large.x };
        }
        hdr.copy = hdr.either;
        if (hdr.copy == hdr.either) intrinsic.to = 1;
        hdr.either = {#};
    }
}
control Put(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
Device(Take(), Swap(), Put()) main;
