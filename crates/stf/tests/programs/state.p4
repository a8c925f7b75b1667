// A table of all kinds of keys and a register: what a control plane may have set.
#include <core.p4>
#include <v1model.p4>

header fields_h {
    bit<8>  exact_key;
    bit<16> lpm_key;
    bit<8>  ternary_key;
    bit<8>  range_key;
    bit<8>  rest;
}

header cell_h {
    bit<16> value;
}

struct headers_t {
    fields_h fields;
    cell_h   cell;
}

struct metadata_t {}

parser ParseAll(packet_in packet, out headers_t hdr, inout metadata_t meta,
                inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.fields);
        transition accept;
    }
}

control CheckSums(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Receive(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    register<bit<16>>(8) cells;

    action send(bit<9> port, bit<8> value) {
        std.egress_spec = port;
        hdr.fields.exact_key = value;
    }

    action ignore() {}

    table stage {
        key = {
            hdr.fields.exact_key: exact @name("exact");
            hdr.fields.lpm_key: lpm @name("lpm");
            hdr.fields.ternary_key: ternary @name("ternary");
            hdr.fields.range_key: range @name("range");
        }
        actions = {
            send;
            ignore;
        }
        default_action = ignore();
    }

    apply {
        stage.apply();
        hdr.cell.setValid();
        cells.read(hdr.cell.value, 3);
    }
}

control Transmit(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    apply {}
}

control UpdateSums(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control EmitAll(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.fields);
        packet.emit(hdr.cell);
    }
}

V1Switch(ParseAll(), CheckSums(), Receive(), Transmit(), UpdateSums(), EmitAll()) main;
