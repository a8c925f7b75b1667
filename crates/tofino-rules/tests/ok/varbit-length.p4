// A length of one variable.
#include "shell/before.p4"

parser Own(packet_in pkt, out headers_t hdr, out metadata_t md, out ingress_intrinsic_metadata_t intrinsic) {
    state start {
        pkt.extract(intrinsic);
        pkt.advance(PORT_METADATA_SIZE);
        md = { 0, 0 };
        pkt.extract(hdr.v);
        pkt.extract(hdr.rest, (bit<32>) hdr.v.f[3:0] * 8);
        transition accept;
    }
}

control Work(inout headers_t hdr, inout metadata_t md) {
    apply {}
}

#define PARSER Own
#include "shell/after.p4"
