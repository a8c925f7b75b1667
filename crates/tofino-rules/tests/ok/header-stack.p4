// A parser extracts into the elements of a stack, one after another, and looks at the last.
#include "shell/before.p4"

parser Own(packet_in pkt, out headers_t hdr, out metadata_t md, out ingress_intrinsic_metadata_t intrinsic) {
    state start {
        pkt.extract(intrinsic);
        pkt.advance(PORT_METADATA_SIZE);
        md = { 0, 0 };
        transition tags;
    }
    state tags {
        pkt.extract(hdr.tags.next);
        transition select(hdr.tags.last.bottom) {
            0: tags;
            1: values;
        }
    }
    state values {
        pkt.extract(hdr.v);
        transition accept;
    }
}

control Work(inout headers_t hdr, inout metadata_t md) {
    apply {}
}

#define PARSER Own
#include "shell/after.p4"
