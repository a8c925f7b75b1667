// What programs for one extern share: a packet asks for an operation on its values, and comes back through port 2.

header op_h {
    bit<8>  kind;
    bit<8>  index;
    bit<32> a;
    bit<32> b;
    bit<32> c;
}

struct headers_t {
    op_h op;
}

struct metadata_t {}

parser IngressParser(
    packet_in packet, out headers_t hdr, out metadata_t md, out ingress_intrinsic_metadata_t intrinsic)
{
    state start {
        packet.extract(intrinsic);
        packet.advance(PORT_METADATA_SIZE);
        packet.extract(hdr.op);
        transition accept;
    }
}

control IngressDeparser(
    packet_out packet, inout headers_t hdr, in metadata_t md,
    in ingress_intrinsic_metadata_for_deparser_t for_deparser)
{
    apply {
        packet.emit(hdr);
    }
}

parser EgressParser(
    packet_in packet, out headers_t hdr, out metadata_t md, out egress_intrinsic_metadata_t intrinsic)
{
    state start {
        packet.extract(intrinsic);
        transition accept;
    }
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
    packet_out packet, inout headers_t hdr, in metadata_t md,
    in egress_intrinsic_metadata_for_deparser_t for_deparser)
{
    apply {
        packet.emit(hdr);
    }
}

#define INGRESS                                                        \
    inout headers_t hdr, inout metadata_t md,                          \
    in ingress_intrinsic_metadata_t intrinsic,                         \
    in ingress_intrinsic_metadata_from_parser_t from_parser,           \
    inout ingress_intrinsic_metadata_for_deparser_t for_deparser,      \
    inout ingress_intrinsic_metadata_for_tm_t for_tm

#define MAIN                                                           \
    Switch(                                                            \
        Pipeline(                                                      \
            IngressParser(), Ingress(), IngressDeparser(),             \
            EgressParser(), Egress(), EgressDeparser()                 \
        )                                                              \
    ) main;
