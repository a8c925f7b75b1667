// A condition orders two fields.
#include "shell/before.p4"

control Work(inout headers_t hdr, inout metadata_t md) {
    apply {
        if (hdr.v.a < hdr.v.b) { //! comparison
            md.x = 1;
        }
    }
}

#include "shell/after.p4"
