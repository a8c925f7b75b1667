// Errors that are declared before core.p4's do not change the values of those: NoError is what parser_error and a
// variable without initializer hold.
error { TooOld, TooNew }

#include <core.p4>

error { TooLoud }

#include <v1model.p4>

header report_t {
    bit<8> version;
    bit<8> outcome;
    bit<8> initial;
}

struct headers_t { report_t report; }
struct metadata_t {}

parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.report);
        verify(hdr.report.version != 1, error.TooOld);
        verify(hdr.report.version != 9, error.TooLoud);
        transition select(hdr.report.version) {
            2: accept;
        }
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) { apply {} }

control MyIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 1;
        error unset;
        hdr.report.initial = (unset == error.NoError) ? 8w1 : 0;
        if (std.parser_error == error.NoError) {
            hdr.report.outcome = 0x10;
        } else if (std.parser_error == error.TooOld) {
            hdr.report.outcome = 0x11;
        } else if (std.parser_error == error.TooLoud) {
            hdr.report.outcome = 0x12;
        } else if (std.parser_error == error.NoMatch) {
            hdr.report.outcome = 0x13;
        } else if (std.parser_error == error.PacketTooShort) {
            hdr.report.setValid();
            hdr.report.version = 0;
            hdr.report.outcome = 0x14;
        }
    }
}

control MyEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply {} }
control Compute(inout headers_t hdr, inout metadata_t meta) { apply {} }
control Deparse(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }

V1Switch(Parse(), Verify(), MyIngress(), MyEgress(), Compute(), Deparse()) main;
