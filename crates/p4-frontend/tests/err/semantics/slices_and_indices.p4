#include "included/arch.p4"
header h { bit<8> a; }
struct headers_t { h[4] stack; h one; }
control Use(inout headers_t hdr, inout intrinsic_t intrinsic) {
    apply {
        hdr.one.a = hdr.one.a[8:1] ++ hdr.one.a[0:0][0:0];
        hdr.one.a[1:3] = 0;
        hdr.one.a = hdr.one.a[hdr.one.a:0];
        hdr.stack[4].a = 0;
        hdr.stack[true].a = 0;
        hdr.one[0].a = 0;
        hdr.one = hdr.stack.next;
        bit<32> n = hdr.stack.count;
        hdr.stack.push_front(-1);
        hdr.stack.lastIndex = 1;
    }
}
