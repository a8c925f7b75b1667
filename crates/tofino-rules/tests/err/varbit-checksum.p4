// A checksum over two varbits.
#include "shell/before.p4"

parser Own(packet_in pkt, out headers_t hdr, out metadata_t md, out ingress_intrinsic_metadata_t intrinsic) {
    state start {
        pkt.extract(intrinsic);
        pkt.advance(PORT_METADATA_SIZE);
        md = { 0, 0 };
        pkt.extract(hdr.v);
        pkt.extract(hdr.rest, (bit<32>) hdr.v.f[1:0] * 16);
        transition more;
    }
    state more {
        pkt.extract(hdr.more, (bit<32>) hdr.v.g[1:0] * 16);
        transition accept;
    }
}

control OwnDeparser(
    packet_out pkt, inout headers_t hdr, in metadata_t md,
    in ingress_intrinsic_metadata_for_deparser_t for_deparser)
{
    Checksum() sum;
    apply {
        hdr.v.d = sum.update({ hdr.v.a, hdr.rest.octets, hdr.more.octets }); //! varbit-checksum
        pkt.emit(hdr);
    }
}

control Work(inout headers_t hdr, inout metadata_t md) {
    apply {}
}

#define PARSER Own
#define DEPARSER OwnDeparser
#include "shell/after.p4"
