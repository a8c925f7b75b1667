// Each packet asks for one path through a Tofino switch, and says what it met.

header op_h {
    bit<8>  kind;
    bit<8>  port;
    bit<8>  egress_port;
    bit<8>  flags;
    bit<16> instance;
    bit<16> value;
}

// What ingress hands to egress, in front of the packet.
header bridge_h {
    bit<8>  kind;
    bit<16> value;
}

struct headers_t {
    bridge_h bridge;
    op_h     op;
}

struct metadata_t {}

parser IngressParser(
    packet_in packet, out headers_t hdr, out metadata_t md, out ingress_intrinsic_metadata_t intrinsic)
{
    state start {
        packet.extract(intrinsic);
        packet.advance(PORT_METADATA_SIZE);
        packet.extract(hdr.op);
        transition select(hdr.op.kind) {
            0 &&& 0x80: accept;
        }
    }
}

control Ingress(
    inout headers_t hdr, inout metadata_t md, in ingress_intrinsic_metadata_t intrinsic,
    in ingress_intrinsic_metadata_from_parser_t from_parser,
    inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
    inout ingress_intrinsic_metadata_for_tm_t for_tm)
{
    apply {
        hdr.op.value = 7w0 ++ intrinsic.ingress_port;
        hdr.bridge.setValid();
        hdr.bridge = { hdr.op.kind, 0xabcd };
        if (hdr.op.kind != 0 && hdr.op.kind != 3) {
            for_tm.ucast_egress_port = 1w0 ++ hdr.op.port;
        }
        if (hdr.op.kind == 2) {
            for_deparser.drop_ctl = 1;
        }
        if (hdr.op.kind == 3 || hdr.op.kind == 4) {
            for_tm.mcast_grp_a = 8w0 ++ hdr.op.port;
        }
        if (hdr.op.kind == 4) {
            for_tm.mcast_grp_b = 7;
        }
        if (hdr.op.kind == 5) {
            for_tm.bypass_egress = 1;
        }
        if (hdr.op.kind == 7) {
            for_tm.qid = 3;
            for_tm.ingress_cos = 5;
        }
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
        packet.extract(hdr.bridge);
        packet.extract(hdr.op);
        transition accept;
    }
}

control Egress(
    inout headers_t hdr, inout metadata_t md, in egress_intrinsic_metadata_t intrinsic,
    in egress_intrinsic_metadata_from_parser_t from_parser,
    inout egress_intrinsic_metadata_for_deparser_t for_deparser,
    inout egress_intrinsic_metadata_for_output_port_t for_port)
{
    apply {
        hdr.op.egress_port = intrinsic.egress_port[7:0];
        hdr.op.flags = intrinsic.deflection_flag ++ intrinsic.egress_rid_first ++ intrinsic.egress_cos ++ intrinsic.egress_qid[2:0];
        hdr.op.instance = intrinsic.egress_rid;
        if (hdr.bridge.kind == 6) {
            for_deparser.drop_ctl = 1;
        }
        if (hdr.bridge.kind == 8) {
            hdr.op.value = intrinsic.pkt_length;
        }
        if (hdr.bridge.kind == 9) {
            hdr.op.value = hdr.bridge.value;
        }
        hdr.bridge.setInvalid();
    }
}

control EgressDeparser(
    packet_out packet, inout headers_t hdr, in metadata_t md,
    in egress_intrinsic_metadata_for_deparser_t for_deparser)
{
    apply {
        packet.emit(hdr);
    }
}

Switch(
    Pipeline(
        IngressParser(), Ingress(), IngressDeparser(),
        EgressParser(), Egress(), EgressDeparser()
    )
) main;
