// What p4-ir cannot hold as an array: an action's data from entries, a stack to push to behind a type parameter.
#include "included/arch.p4"
header h { bit<8> a; }
struct headers_t { h one; h[2] stack; }
void push<T>(inout T[2] of) { of.push_front(1); }
parser Start(packet_in packet, out headers_t hdr, inout intrinsic_t intrinsic) {
    state start { transition accept; }
}
control Use(inout headers_t hdr, inout intrinsic_t intrinsic) {
    bit<8>[2] octets;
    action set(bit<8>[2] given) { hdr.one.a = given[0]; }
    table t {
        key = { hdr.one.a: exact; }
        actions = { set; }
    }
    apply {
        push(hdr.stack);
        push(octets);
        t.apply();
    }
}
control End(packet_out packet, in headers_t hdr) { apply {} }
Device(Start(), Use(), End()) main;
