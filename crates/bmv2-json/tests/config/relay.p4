// What device configurations consist of, in one program: compiled with
// `p4c-bm2-ss --std p4-16 relay.p4 -o relay.json`, which relay.json is the result of.
#include <core.p4>
#include <v1model.p4>

header frame_t {
    bit<8>  kind;
    bit<8>  count;
    int<8>  offset;
    bit<16> sum;
}

header label_t {
    bit<7>  value;
    bit<1>  more;
}

header short_t { bit<8> value; }
header long_t { bit<16> value; }
header_union body_t {
    short_t short;
    long_t  long;
}
header text_t { varbit<64> text; }

struct headers_t {
    frame_t    frame;
    label_t[3] labels;
    body_t     body;
    text_t     text;
}

struct meta_t {
    bit<8>  total;
    @field_list(1) bit<16> seen;
    bit<2>  colour;
}

struct notice_t {
    bit<8>  kind;
    bit<16> seen;
}

parser Reading(packet_in packet, out headers_t hdr, inout meta_t meta,
               inout standard_metadata_t standard) {
    value_set<bit<8>>(4) stacked;

    state start {
        packet.extract(hdr.frame);
        verify(hdr.frame.kind != 0xff, error.ParserInvalidArgument);
        transition select(hdr.frame.kind, packet.lookahead<bit<4>>()) {
            (1, _): labels;
            (2, 0 &&& 8): short_body;
            (2, _): long_body;
            (3, _): text;
            default: other;
        }
    }
    state other {
        transition select(hdr.frame.kind) {
            stacked: labels;
            default: accept;
        }
    }
    state labels {
        packet.extract(hdr.labels.next);
        meta.total = meta.total + (bit<8>) hdr.labels.last.value;
        transition select(hdr.labels.last.more) {
            1: labels;
            0: accept;
        }
    }
    state short_body { packet.extract(hdr.body.short); transition accept; }
    state long_body { packet.extract(hdr.body.long); transition accept; }
    state text {
        packet.advance(8);
        packet.extract(hdr.text, (bit<32>) hdr.frame.count * 8);
        transition accept;
    }
}

control Checking(inout headers_t hdr, inout meta_t meta) {
    apply {
        verify_checksum(hdr.frame.kind == 4, { hdr.frame.kind, hdr.frame.count },
                        hdr.frame.sum, HashAlgorithm.csum16);
    }
}

control Relaying(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    register<bit<16>>(8) seen;
    counter(8, CounterType.packets) kinds;
    meter(8, MeterType.packets) pace;
    direct_counter(CounterType.packets_and_bytes) hits;
    action_profile(16) members;
    direct_meter<bit<2>>(MeterType.bytes) volume;

    action drop() { mark_to_drop(standard); }
    action send(bit<9> port) {
        standard.egress_spec = port;
        volume.read(meta.colour);
    }
    action count(bit<9> port, bit<8> most) {
        standard.egress_spec = port;
        if (hdr.frame.count < most) {
            hdr.frame.count = hdr.frame.count + 1;
        } else {
            hdr.frame.count = 0;
        }
        bit<8> n = 0;
        for (bit<8> i = 0; i < hdr.frame.count; i = i + 1) {
            n = n + i;
        }
        meta.total = meta.total |+| n;
    }
    table by_kind {
        key = {
            hdr.frame.kind: exact;
            hdr.labels[0].isValid(): exact;
        }
        actions = { send; count; drop; }
        default_action = drop();
        counters = hits;
        meters = volume;
    }
    table by_count {
        key = { hdr.frame.count: range; hdr.frame.offset: ternary; }
        actions = { count; drop; NoAction; }
        const entries = {
            (1 .. 3, 0): count(5, 9);
            (_, -1): drop();
        }
    }
    table by_member {
        key = { hdr.frame.kind: exact; }
        actions = { send; drop; }
        implementation = members;
    }
    apply {
        seen.read(meta.seen, (bit<32>) hdr.frame.kind & 7);
        seen.write((bit<32>) hdr.frame.kind & 7, meta.seen + 1);
        kinds.count((bit<32>) hdr.frame.kind & 7);
        pace.execute_meter((bit<32>) 0, meta.colour);
        if (by_kind.apply().hit) {
            by_member.apply();
            digest<notice_t>(1, { hdr.frame.kind, meta.seen });
        } else {
            switch (by_count.apply().action_run) {
                count: { hdr.frame.offset = hdr.frame.offset - 2; }
                drop: { exit; }
                default: { log_msg("left alone: {}", { hdr.frame.kind }); }
            }
        }
        if (hdr.frame.kind == 1) {
            hdr.labels.pop_front(1);
        }
        if (hdr.frame.offset < 0) {
            hdr.frame.offset = hdr.frame.offset >> 1;
        }
        if (hdr.body.short.isValid()) {
            bit<8> value = hdr.body.short.value;
            hdr.body.long.setValid();
            hdr.body.long.value = (bit<16>) value;
        }
        if (hdr.frame.kind == 5) {
            clone_preserving_field_list(CloneType.I2E, 32w7, 8w1);
        }
        bit<16> spread;
        hash(spread, HashAlgorithm.crc16, 16w0, { hdr.frame.kind, hdr.frame.count }, 16w8);
        hdr.frame.sum = spread;
    }
}

control Leaving(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    apply {
        if (standard.instance_type == 1) {
            hdr.frame.count = (bit<8>) meta.seen;
        }
        if (hdr.labels[0].isValid()) {
            hdr.labels[0].value = hdr.labels[0].value ^ 0x7f;
        }
    }
}

control Summing(inout headers_t hdr, inout meta_t meta) {
    apply {
        update_checksum(hdr.frame.kind == 2, { hdr.frame.kind, hdr.frame.count },
                        hdr.frame.sum, HashAlgorithm.csum16);
    }
}

control Writing(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(Reading(), Checking(), Relaying(), Leaving(), Summing(), Writing()) main;
