// A parser and a deparser for programs that are about neither.
#include "arch.p4"

header pair_h { bit<8> a; bit<8> b; bit<16> c; }
struct headers_t { pair_h pair; pair_h other; }

parser TakePair(packet_in packet, out headers_t hdr, inout intrinsic_t intrinsic) {
    state start { packet.extract(hdr.pair); transition accept; }
}
control PutPair(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
