// Every other extern of v1model that reads or writes an argument, called on parameters of actions, functions and
// controls; one for each value of `h.which`.
#include <core.p4>
#define V1MODEL_VERSION 20200408
#include <v1model.p4>

header h_t {
    bit<8> which;
    bit<16> a;
    bit<16> b;
}

struct headers_t {
    h_t h;
}

struct inner_t {
    @field_list(1)
    bit<16> kept;
    bit<16> lost;
}

struct metadata_t {
    inner_t inner;
    bit<8> colour;
}

parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.h);
        transition accept;
    }
}

void verify_of(in h_t h, in bit<16> sum) {
    verify_checksum(h.which == 1, { h.a }, sum, HashAlgorithm.csum16);
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_of(hdr.h, hdr.h.b);
    }
}

register<bit<16>, bit<8>>(4) cells;

void hash_of(inout h_t h) {
    hash(h.b, HashAlgorithm.xor16, 16w0, { h.a, h.b }, 32w0x10000);
}

void random_of(out bit<16> number, in bit<16> only) {
    random(number, only, only);
}

void truncate_to(in bit<16> octets) {
    truncate((bit<32>) octets);
}

control Cell(inout bit<16> value, in bit<8> at) {
    apply {
        cells.write(at, value);
        value = 0;
        cells.read(value, at);
    }
}

control Enter(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    meter<bit<8>>(1, MeterType.packets) coloured;
    direct_meter<bit<8>>(MeterType.packets) direct;
    Cell() cell;

    action colour(inout bit<8> result) {
        coloured.execute_meter(8w0, result);
    }

    action direct_colour(inout metadata_t m) {
        direct.read(m.colour);
    }

    action clone_kept(inout metadata_t m, in bit<16> session) {
        m.inner = { 0x1234, 0x5678 };
        clone_preserving_field_list(CloneType.I2E, (bit<32>) session, 1);
        m.inner.kept = 0x4321;
    }

    action again(inout metadata_t m, in bit<16> kept) {
        m.inner = { kept, kept };
        resubmit_preserving_field_list(1);
    }

    action require(inout h_t h) {
        assert(h.a == h.b);
    }

    table metered {
        key = { hdr.h.which: exact; }
        actions = { direct_colour(meta); }
        const entries = { 6: direct_colour(meta); }
        const default_action = direct_colour(meta);
        meters = direct;
    }

    apply {
        sm.egress_spec = 1;
        meta.colour = 0xee;
        switch (hdr.h.which) {
            1: { hdr.h.b = (bit<16>) sm.checksum_error; }
            2: { hash_of(hdr.h); }
            3: { random_of(hdr.h.b, hdr.h.a); }
            4: { truncate_to(hdr.h.a); }
            5: {
                colour(meta.colour);
                hdr.h.b = (bit<16>) meta.colour;
            }
            6: {
                metered.apply();
                hdr.h.b = (bit<16>) meta.colour;
            }
            7: {
                cell.apply(hdr.h.a, 1);
                cell.apply(hdr.h.b, 2);
                bit<16> first;
                cells.read(first, 1);
                hdr.h.b = hdr.h.b + first;
            }
            8: { clone_kept(meta, hdr.h.a); }
            9: {
                if (sm.instance_type == 0) {
                    again(meta, hdr.h.a);
                } else {
                    hdr.h = { 9, meta.inner.kept, meta.inner.lost };
                }
            }
            10: { require(hdr.h); }
        }
    }
}

control Leave(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        if (sm.instance_type == 1) {
            hdr.h.a = meta.inner.kept;
            hdr.h.b = meta.inner.lost;
        }
    }
}

void sum_into(inout bit<16> sum, in h_t h) {
    update_checksum(h.which == 11, { h.a }, sum, HashAlgorithm.csum16);
    update_checksum_with_payload(h.which == 12, { h.a }, sum, HashAlgorithm.csum16);
}

control Compute(inout headers_t hdr, inout metadata_t meta) {
    apply {
        sum_into(hdr.h.b, hdr.h);
    }
}

control Deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.h);
    }
}

V1Switch(Parse(), Verify(), Enter(), Leave(), Compute(), Deparse()) main;
