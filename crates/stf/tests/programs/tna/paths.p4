// Each packet asks for one path through a Tofino switch, and says what it met.

header op_h {
    bit<8>  kind;
    bit<8>  port;
    bit<8>  egress_port;
    bit<8>  flags;
    bit<16> instance;
    bit<16> value;
}

// What ingress hands to egress, in front of the packet, and what is in front of mirrored packets.
header bridge_h {
    bit<8>  kind;
    bit<16> value;
}

// What is in front of a resubmitted packet.
header again_h {
    bit<8>  port;
    bit<16> value;
}

// The port metadata.
struct port_t {
    bit<16> value;
}

struct headers_t {
    again_h  again;
    bridge_h bridge;
    op_h     op;
}

struct metadata_t {
    port_t port;
}

#if __TARGET_TOFINO__ == 1
#define RECIRCULATION_PORT 68
#else
#define RECIRCULATION_PORT 6
#endif

const bit<8> MIRRORED = 0xf1;

parser IngressParser(
    packet_in packet, out headers_t hdr, out metadata_t md, out ingress_intrinsic_metadata_t intrinsic)
{
    state start {
        packet.extract(intrinsic);
        transition select(intrinsic.resubmit_flag) {
            0: parse_port;
            1: parse_again;
        }
    }
    state parse_port {
        md.port = port_metadata_unpack<port_t>(packet);
        transition parse_op;
    }
    state parse_again {
        packet.extract(hdr.again);
        packet.advance(PORT_METADATA_SIZE - 24);
        transition parse_op;
    }
    state parse_op {
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
        if (hdr.op.kind == 10) {
            hdr.op.value = md.port.value;
        }
        if (hdr.again.isValid()) {
            for_tm.ucast_egress_port = 1w0 ++ hdr.again.port;
            hdr.op.value = hdr.again.value;
            hdr.again.setInvalid();
        } else if (hdr.op.kind == 11) {
            for_deparser.resubmit_type = 1;
        }
        if (hdr.op.kind == 12 || hdr.op.kind == 13) {
            for_deparser.mirror_type = 1;
        }
        if (hdr.op.kind == 13) {
            for_deparser.drop_ctl = 1;
        }
        if (hdr.op.kind == 16 || hdr.op.kind == 17) {
            for_tm.copy_to_cpu = 1;
            for_tm.icos_for_copy_to_cpu = 2;
        }
        if (hdr.op.kind == 17) {
            for_deparser.drop_ctl = 1;
        }
        // It goes to its port when it comes back.
        if (hdr.op.kind == 15 && intrinsic.ingress_port != RECIRCULATION_PORT) {
            for_tm.ucast_egress_port = RECIRCULATION_PORT;
        }
    }
}

control IngressDeparser(
    packet_out packet, inout headers_t hdr, in metadata_t md,
    in ingress_intrinsic_metadata_for_deparser_t for_deparser)
{
    Mirror(1) mirror;
    Resubmit(1) resubmit;
    apply {
        if (for_deparser.mirror_type == 1) {
            mirror.emit<bridge_h>(5, { MIRRORED, 0x1234 });
        }
        if (for_deparser.resubmit_type == 1) {
            resubmit.emit<again_h>({ hdr.op.port, 0x5678 });
        }
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
        if (hdr.bridge.kind == 9 || hdr.bridge.kind == MIRRORED) {
            hdr.op.value = hdr.bridge.value;
        }
        if (hdr.bridge.kind == 14) {
            for_deparser.mirror_type = 2;
#if __TARGET_TOFINO__ == 2
            for_deparser.mirror_io_select = 1;
#endif
        }
        hdr.bridge.setInvalid();
    }
}

control EgressDeparser(
    packet_out packet, inout headers_t hdr, in metadata_t md,
    in egress_intrinsic_metadata_for_deparser_t for_deparser)
{
    Mirror(2) mirror;
    apply {
        if (for_deparser.mirror_type == 2) {
            mirror.emit<bridge_h>(5, { MIRRORED, 0x4321 });
        }
        packet.emit(hdr);
    }
}

Switch(
    Pipeline(
        IngressParser(), Ingress(), IngressDeparser(),
        EgressParser(), Egress(), EgressDeparser()
    )
) main;
