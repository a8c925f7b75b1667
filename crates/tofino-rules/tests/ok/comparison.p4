// The difference of two fields is compared with a constant.
#include "shell/before.p4"

control Work(inout headers_t hdr, inout metadata_t md) {
    action subtract() { md.y = hdr.v.d - hdr.v.e; }
    apply {
        subtract();
        if (md.y[15:15] == 1) {
            md.x = 1;
        } else if (hdr.v.f < 10) {
            md.x = 2;
        }
    }
}

#include "shell/after.p4"
