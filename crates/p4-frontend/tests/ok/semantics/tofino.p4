// Two pipelines of the Tofino Native Architecture with blocks of the same types. Objects are called after their pipeline.
#include <tna.p4>

@pa_no_overlay("ingress", "hdr.ethernet.kind")
header ethernet_h { bit<48> dst; bit<48> src; bit<16> kind; }
struct headers_t { ethernet_h ethernet; }
struct port_t { bit<8> class; bit<56> _pad; }
struct metadata_t { port_t port; }

Register<bit<32>, bit<9>>(512) seen;

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md, out ingress_intrinsic_metadata_t intrinsic) {
    state start {
        pkt.extract(intrinsic);
        md.port = port_metadata_unpack<port_t>(pkt);
        pkt.extract(hdr.ethernet);
        transition accept;
    }
}
control Ingress(
    inout headers_t hdr, inout metadata_t md, in ingress_intrinsic_metadata_t intrinsic,
    in ingress_intrinsic_metadata_from_parser_t from_parser,
    inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
    inout ingress_intrinsic_metadata_for_tm_t for_tm) (bit<9> out_port)
{
    CRCPolynomial<bit<16>>(0x1021, false, false, false, 0xffff, 0) polynomial;
    Hash<bit<16>>(HashAlgorithm_t.CUSTOM, polynomial) hash;
    RegisterAction<bit<32>, bit<9>, bit<1>>(seen) see = {
        void apply(inout bit<32> value, out bit<1> is_new) {
            is_new = 0;
            if (value == 0) { is_new = 1; }
            value = value |+| 1;
        }
    };
    @pragma ternary 1
    table kinds {
        key = { hdr.ethernet.kind: exact; }
        actions = { NoAction; }
        size = 64;
    }
    apply {
        for_tm.ucast_egress_port = out_port;
        for_tm.level1_mcast_hash = hash.get({ hdr.ethernet.src, md.port.class })[12:0];
        if (see.execute(intrinsic.ingress_port) == 1) { kinds.apply(); }
    }
}
control IngressDeparser(
    packet_out pkt, inout headers_t hdr, in metadata_t md, in ingress_intrinsic_metadata_for_deparser_t for_deparser)
{
    Mirror(1) mirror;
    apply {
        if (for_deparser.mirror_type == 1) { mirror.emit(10w5); }
        pkt.emit(hdr);
    }
}
parser EgressParser(packet_in pkt, out headers_t hdr, out metadata_t md, out egress_intrinsic_metadata_t intrinsic) {
    state start { pkt.extract(intrinsic); transition accept; }
}
control Egress(
    inout headers_t hdr, inout metadata_t md, in egress_intrinsic_metadata_t intrinsic,
    in egress_intrinsic_metadata_from_parser_t from_parser,
    inout egress_intrinsic_metadata_for_deparser_t for_deparser,
    inout egress_intrinsic_metadata_for_output_port_t for_port)
{ apply {} }
control EgressDeparser(
    packet_out pkt, inout headers_t hdr, in metadata_t md, in egress_intrinsic_metadata_for_deparser_t for_deparser)
{ apply { pkt.emit(hdr); } }

Pipeline(IngressParser(), Ingress(1), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) front;
Switch(front, Pipeline(IngressParser(), Ingress(2), IngressDeparser(), EgressParser(), Egress(), EgressDeparser())) main;
