// A checksum that the parser verifies, one that the deparser computes from what is left of an old one, and a loop over
// the parser's counter.
#include <tna.p4>

header first_h {
    bit<16> a;
    bit<16> b;
    bit<16> checksum;
    bit<8>  wrong;
    bit<8>  items;
}

header item_h {
    bit<16> value;
}

header last_h {
    bit<16> length;
    bit<16> checksum;
}

struct headers_t {
    first_h   first;
    item_h[4] items;
    last_h    last;
}

struct metadata_t {
    bit<1>  wrong;
    bit<16> residual;
}

parser IngressParser(
    packet_in packet, out headers_t hdr, out metadata_t md, out ingress_intrinsic_metadata_t intrinsic)
{
    Checksum() of_first;
    Checksum() of_last;
    ParserCounter() left;

    state start {
        packet.extract(intrinsic);
        packet.advance(PORT_METADATA_SIZE);
        packet.extract(hdr.first);
        of_first.add({hdr.first.a, hdr.first.b, hdr.first.checksum});
        md.wrong = (bit<1>) of_first.verify();
        left.set(hdr.first.items);
        transition select(left.is_zero()) {
            true: last;
            false: item;
        }
    }
    state item {
        packet.extract(hdr.items.next);
        left.decrement(1);
        transition select(left.is_zero()) {
            true: last;
            false: item;
        }
    }
    state last {
        packet.extract(hdr.last);
        of_last.subtract({hdr.last.checksum});
        of_last.subtract({hdr.last.length});
        of_last.subtract_all_and_deposit(md.residual);
        transition accept;
    }
}

control Ingress(
    inout headers_t hdr, inout metadata_t md, in ingress_intrinsic_metadata_t intrinsic,
    in ingress_intrinsic_metadata_from_parser_t from_parser,
    inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
    inout ingress_intrinsic_metadata_for_tm_t for_tm)
{
    apply {
        hdr.first.wrong = 7w0 ++ md.wrong;
        hdr.first.a = hdr.first.a + 1;
        hdr.last.length = 0x1111;
        for_tm.ucast_egress_port = 2;
        for_tm.bypass_egress = 1;
    }
}

control IngressDeparser(
    packet_out packet, inout headers_t hdr, in metadata_t md,
    in ingress_intrinsic_metadata_for_deparser_t for_deparser)
{
    Checksum() of_first;
    Checksum() of_last;
    apply {
        hdr.first.checksum = of_first.update({hdr.first.a, hdr.first.b}, true);
        hdr.last.checksum = of_last.update({hdr.last.length, md.residual});
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

Switch(
    Pipeline(
        IngressParser(), Ingress(), IngressDeparser(),
        EgressParser(), Egress(), EgressDeparser()
    )
) main;
