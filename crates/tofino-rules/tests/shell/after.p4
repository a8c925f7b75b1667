// What the programs of these tests have in common, after their control `Work`. A program may have an ingress parser,
// egress control or deparser of its own, which these macros name.
#ifndef PARSER
#define PARSER IngressParser
#endif
#ifndef EGRESS
#define EGRESS Egress
#endif
#ifndef DEPARSER
#define DEPARSER IngressDeparser
#endif

control Ingress(
    inout headers_t hdr, inout metadata_t md, in ingress_intrinsic_metadata_t intrinsic,
    in ingress_intrinsic_metadata_from_parser_t from_parser,
    inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
    inout ingress_intrinsic_metadata_for_tm_t for_tm)
{
    Work() work;
    apply {
        work.apply(hdr, md);
        for_tm.ucast_egress_port = intrinsic.ingress_port;
        hdr.v.c = md.x;
    }
}

control IngressDeparser(
    packet_out pkt, inout headers_t hdr, in metadata_t md,
    in ingress_intrinsic_metadata_for_deparser_t for_deparser)
{
    apply { pkt.emit(hdr); }
}

control Egress(
    inout headers_t hdr, inout metadata_t md, in egress_intrinsic_metadata_t intrinsic,
    in egress_intrinsic_metadata_from_parser_t from_parser,
    inout egress_intrinsic_metadata_for_deparser_t for_deparser,
    inout egress_intrinsic_metadata_for_output_port_t for_port)
{
    apply {}
}

control EgressDeparser(
    packet_out pkt, inout headers_t hdr, in metadata_t md,
    in egress_intrinsic_metadata_for_deparser_t for_deparser)
{
    apply { pkt.emit(hdr); }
}

Pipeline(PARSER(), Ingress(), DEPARSER(), EgressParser(), EGRESS(), EgressDeparser()) pipe;
Switch(pipe) main;
