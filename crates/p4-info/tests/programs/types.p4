// Declared types in keys, parameters, packet headers and registers.
#include <core.p4>
#include <v1model.p4>

@p4runtime_translation("example.org/port", 32) type bit<9> port_t;
@p4runtime_translation("example.org/name", string) type bit<16> vrf_t;
@p4runtime_translation("example.org/exact", bit<48>) @kept type bit<48> mac_t;
type bit<12> vlan_t;
type vlan_t  outer_vlan_t;
typedef port_t alias_t;
enum bit<4> Kind { none = 0, some = 9 }

struct box<T> { T inside; bit<3> rest; }
struct both_t { box<bit<8>> first; box<Kind> second; }

header small_h { bit<8> a; int<8> b; varbit<32> c; }
header large_h { bit<16> d; }
header_union either_u { small_h small; large_h large; }
struct nested_t { @tagged bit<4> x; bit<4> y; }
@controller_header("packet_in") header packet_in_h { nested_t point; bit<8> end; }

struct headers_t { small_h small; }
struct metadata_t { port_t port; vrf_t vrf; mac_t mac; vlan_t vlan; outer_vlan_t outer; alias_t other; Kind kind; }

struct report_t {
    box<bit<8>> boxed;
    small_h     whole;
    small_h[2]  many;
    either_u    either;
    @name("called") vlan_t vlan;
    error       fault;
    tuple<bit<4>, Kind> two;
}

parser PacketParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start { transition accept; }
}
control Verify(inout headers_t hdr, inout metadata_t meta) { apply { } }
control Compute(inout headers_t hdr, inout metadata_t meta) { apply { } }

control MyIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    register<both_t>(4) boxes;
    action set(port_t port, vrf_t vrf, outer_vlan_t outer, Kind kind, int<5> number) {
        meta.port = port;
        meta.vrf = vrf;
        meta.outer = outer;
        meta.kind = kind;
        hdr.small.b = (int<8>)number;
    }
    action tell(in report_t report) { digest<report_t>(1, report); }
    table of_types {
        key = {
            meta.port  : exact;
            meta.vrf   : exact;
            meta.mac   : ternary;
            meta.vlan  : exact;
            meta.outer : lpm;
            meta.other : optional;
            meta.kind  : exact;
            standard.parser_error : exact;
        }
        actions = { set; NoAction; }
    }
    apply {
        of_types.apply();
        report_t report;
        tell(report);
    }
}

control MyEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) { apply { } }
control MyDeparser(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(PacketParser(), Verify(), MyIngress(), MyEgress(), Compute(), MyDeparser()) main;
