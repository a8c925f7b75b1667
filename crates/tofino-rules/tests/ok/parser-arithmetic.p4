// A parser copies, and counts with a counter.
#include "shell/before.p4"

parser Own(packet_in pkt, out headers_t hdr, out metadata_t md, out ingress_intrinsic_metadata_t intrinsic) {
    ParserCounter() counter;
    state start {
        pkt.extract(intrinsic);
        pkt.advance(PORT_METADATA_SIZE);
        md = { 0, 0 };
        pkt.extract(hdr.v);
        md.y = hdr.v.d;
        counter.set((bit<8>) 2);
        transition next;
    }
    state next {
        counter.decrement(1);
        transition select(counter.is_zero()) {
            true: accept;
            false: next_value;
        }
    }
    state next_value {
        pkt.advance(32);
        transition next;
    }
}

control Work(inout headers_t hdr, inout metadata_t md) {
    apply {}
}

#define PARSER Own
#include "shell/after.p4"
