// What the programs of these tests have in common, up to their control `Work`.
#if __TARGET_TOFINO__ == 2
#include <t2na.p4>
#else
#include <tna.p4>
#endif

header values_h {
    bit<32> a;
    bit<32> b;
    bit<32> c;
    bit<16> d;
    bit<16> e;
    bit<8> f;
    bit<8> g;
}

header rest_h {
    varbit<120> octets;
}

header tag_h {
    bit<31> value;
    bit<1> bottom;
}

struct headers_t {
    tag_h[4] tags;
    values_h v;
    rest_h rest;
    rest_h more;
}

struct metadata_t {
    bit<32> x;
    bit<16> y;
}

struct pair_t {
    bit<32> low;
    bit<32> high;
}

parser IngressParser(
    packet_in pkt, out headers_t hdr, out metadata_t md, out ingress_intrinsic_metadata_t intrinsic)
{
    state start {
        pkt.extract(intrinsic);
        pkt.advance(PORT_METADATA_SIZE);
        md = { 0, 0 };
        pkt.extract(hdr.v);
        transition accept;
    }
}

parser EgressParser(
    packet_in pkt, out headers_t hdr, out metadata_t md, out egress_intrinsic_metadata_t intrinsic)
{
    state start {
        pkt.extract(intrinsic);
        md = { 0, 0 };
        pkt.extract(hdr.v);
        transition accept;
    }
}
