// What P4_16 leaves undefined, one case for each value of `probe.which`. docs/p4-support.md says what BMv2 does.
#include <core.p4>
#include <v1model.p4>

header probe_t {
    bit<8> which;
    bit<8> index;
    bit<32> result;
    bit<8> parser_error;
}

header value_t {
    bit<32> value;
}

struct headers_t {
    probe_t probe;
    value_t other;
    value_t[2] stack;
}

struct metadata_t {}

parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.probe);
        transition select(hdr.probe.which) {
            12: reject;
            13: only_one;
            default: accept;
        }
    }
    state only_one {
        transition select(hdr.probe.index) {
            1: accept;
        }
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Probe(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    register<bit<32>>(4) cells;
    counter(4, CounterType.packets) counted;
    bit<32> never_set;

    apply {
        sm.egress_spec = 1;
        if (sm.parser_error == error.NoMatch) {
            hdr.probe.parser_error = 2;
        } else if (sm.parser_error != error.NoError) {
            hdr.probe.parser_error = 1;
        }
        if (hdr.probe.which == 0) {
            hdr.other.value = 5;
            hdr.probe.result = hdr.other.value;
        } else if (hdr.probe.which == 1) {
            hdr.other.value = 5;
            hdr.other.setValid();
            hdr.probe.result = hdr.other.value;
            hdr.other.setInvalid();
        } else if (hdr.probe.which == 2) {
            hdr.other.setValid();
            hdr.other.value = 7;
            hdr.other.setInvalid();
            hdr.other.setValid();
            hdr.probe.result = hdr.other.value;
            hdr.other.setInvalid();
        } else if (hdr.probe.which == 3) {
            bit<32> kept = 77;
            cells.read(kept, 100);
            hdr.probe.result = kept;
        } else if (hdr.probe.which == 4) {
            hdr.stack[0].setValid();
            hdr.stack[0].value = 3;
            hdr.probe.result = hdr.stack[hdr.probe.index].value;
            hdr.stack[0].setInvalid();
        } else if (hdr.probe.which == 5) {
            hdr.stack[hdr.probe.index].setValid();
        } else if (hdr.probe.which == 6) {
            hdr.probe.result = never_set;
        } else if (hdr.probe.which == 7) {
            hdr.probe.result = 32w1 << hdr.probe.index;
        } else if (hdr.probe.which == 8) {
            assert(hdr.probe.index == 1);
        } else if (hdr.probe.which == 9) {
            cells.write(100, 9);
        } else if (hdr.probe.which == 10) {
            counted.count(100);
        } else if (hdr.probe.which == 11) {
            sm.mcast_grp = 77;
        }
    }
}

control PassOn(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {}
}

control Compute(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(Parse(), Verify(), Probe(), PassOn(), Compute(), Deparse()) main;
