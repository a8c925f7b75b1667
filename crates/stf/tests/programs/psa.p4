// What the Portable Switch Architecture does with packets, one behaviour for each value of `kind`; psa.stf has the
// packets. Egress writes into each where it comes from, and what the deparsers gave it along.
#include <core.p4>
#include <psa.p4>

header op_t {
    bit<8>  kind;
    bit<8>  port;
    bit<8>  path;
    bit<8>  class;
    bit<16> instance;
    bit<16> value;
}
header more_t { bit<16> word; }

struct headers_t { op_t op; more_t more; }
struct value_t { bit<16> value; }
struct nothing_t {}

parser IngressParserImpl(
    packet_in packet, out headers_t hdr, inout value_t meta, in psa_ingress_parser_input_metadata_t istd,
    in value_t resubmitted, in value_t recirculated)
{
    state start {
        packet.extract(hdr.op);
        transition select(istd.packet_path) {
            PSA_PacketPath_t.RESUBMIT: from_resubmit;
            PSA_PacketPath_t.RECIRCULATE: from_recirculate;
            default: accept;
        }
    }
    state from_resubmit { meta.value = resubmitted.value; transition accept; }
    state from_recirculate { meta.value = recirculated.value; transition accept; }
}

control IngressImpl(
    inout headers_t hdr, inout value_t meta, in psa_ingress_input_metadata_t istd,
    inout psa_ingress_output_metadata_t ostd)
{
    InternetChecksum() sum;
    Checksum<bit<16>>(PSA_HashAlgorithm_t.ONES_COMPLEMENT16) plain_sum;
    Register<bit<16>, bit<8>>(4, 0x0abc) cells;
    Random<bit<16>>(5, 5) dice;
    Hash<bit<16>>(PSA_HashAlgorithm_t.ONES_COMPLEMENT16) hash;
    Hash<bit<16>>(PSA_HashAlgorithm_t.IDENTITY) identity;
    Meter<bit<8>>(4, PSA_MeterType_t.PACKETS) meter;
    Counter<bit<32>, PortId_t>(16, PSA_CounterType_t.PACKETS) arrived;
    DirectMeter(PSA_MeterType_t.PACKETS) own_meter;
    ActionProfile(8) profile;
    bool again = istd.packet_path == PSA_PacketPath_t.RESUBMIT
        || istd.packet_path == PSA_PacketPath_t.RECIRCULATE;
    PortId_t port = (PortId_t) (PortIdUint_t) hdr.op.port;

    action to(bit<16> value) { meta.value = value; }
    table known {
        key = { hdr.op.port: exact; }
        actions = { to; NoAction; }
        psa_direct_meter = own_meter;
    }

    apply {
        arrived.count(istd.ingress_port);
        if (hdr.op.kind == 0) {
            // Nothing says where to: dropped.
        } else if (hdr.op.kind == 1) {
            send_to_port(ostd, port);
        } else if (hdr.op.kind == 2) {
            multicast(ostd, (MulticastGroup_t) (MulticastGroupUint_t) hdr.op.port);
        } else if (hdr.op.kind == 3 || hdr.op.kind == 4) {
            ostd.clone = true;
            ostd.clone_session_id = (CloneSessionId_t) (CloneSessionIdUint_t) hdr.op.port;
            hdr.op.instance = 0xeeee;
            if (hdr.op.kind == 3) { send_to_port(ostd, (PortId_t) 9); }
        } else if (hdr.op.kind == 5) {
            hdr.op.instance = 0xeeee;
            send_to_port(ostd, port);
            ostd.resubmit = !again;
        } else if (hdr.op.kind == 6) {
            send_to_port(ostd, again ? port : PSA_PORT_RECIRCULATE);
        } else if (hdr.op.kind == 7 || hdr.op.kind == 8) {
            send_to_port(ostd, (PortId_t) 9);
        } else if (hdr.op.kind == 9) {
            send_to_port(ostd, (PortId_t) 0x12345);
        } else if (hdr.op.kind == 10) {
            send_to_port(ostd, port);
            ostd.class_of_service = (ClassOfService_t) 200;
        } else if (hdr.op.kind == 11) {
            send_to_port(ostd, port);
            // RFC 1071, section 3.
            sum.add({ 16w0x0001, 16w0xf203, 32w0xf4f5f6f7 });
            meta.value = sum.get();
        } else if (hdr.op.kind == 12) {
            send_to_port(ostd, port);
            sum.add({ 16w0x1234, 16w0xf0ff });
            sum.subtract({ 16w0xf0ff });
            bit<16> state = sum.get_state();
            sum.clear();
            sum.set_state(state);
            meta.value = sum.get();
        } else if (hdr.op.kind == 13) {
            send_to_port(ostd, port);
            plain_sum.update({ 8w0x12, 8w0x34 });
            meta.value = plain_sum.get();
        } else if (hdr.op.kind == 14) {
            send_to_port(ostd, port);
            meta.value = cells.read(2);
            cells.write(2, meta.value + 1);
        } else if (hdr.op.kind == 15) {
            send_to_port(ostd, port);
            meta.value = dice.read() + identity.get_hash(12w0x456) + hash.get_hash(16w7, 16w0xfffd, 16w5);
        } else if (hdr.op.kind == 16) {
            send_to_port(ostd, port);
            known.apply();
            if (meter.execute(1) == PSA_MeterColor_t.GREEN
                && meter.execute(1, PSA_MeterColor_t.GREEN) == PSA_MeterColor_t.GREEN
                && own_meter.execute() == PSA_MeterColor_t.GREEN)
            {
                meta.value = meta.value + 1;
            }
        }
        if (istd.parser_error == error.PacketTooShort) {
            send_to_port(ostd, (PortId_t) 7);
        }
    }
}

control IngressDeparserImpl(
    packet_out packet, out value_t cloned, out value_t resubmitted, out value_t normal, inout headers_t hdr,
    in value_t meta, in psa_ingress_output_metadata_t istd)
{
    apply {
        if (psa_clone_i2e(istd)) { cloned.value = 0x1111; }
        if (psa_resubmit(istd)) { resubmitted.value = 0x2222; }
        if (psa_normal(istd)) { normal.value = meta.value; }
        packet.emit(hdr);
    }
}

parser EgressParserImpl(
    packet_in packet, out headers_t hdr, inout value_t meta, in psa_egress_parser_input_metadata_t istd,
    in value_t normal, in value_t cloned_ingress, in value_t cloned_egress)
{
    state start {
        meta.value = normal.value;
        transition select(istd.packet_path) {
            PSA_PacketPath_t.CLONE_I2E: from_ingress;
            PSA_PacketPath_t.CLONE_E2E: from_egress;
            default: op;
        }
    }
    state from_ingress { meta.value = cloned_ingress.value; transition op; }
    state from_egress { meta.value = cloned_egress.value; transition op; }
    state op {
        packet.extract(hdr.op);
        transition accept;
    }
}

control EgressImpl(
    inout headers_t hdr, inout value_t meta, in psa_egress_input_metadata_t istd,
    inout psa_egress_output_metadata_t ostd)
{
    apply {
        if (istd.packet_path == PSA_PacketPath_t.NORMAL_UNICAST) { hdr.op.path = 1; }
        if (istd.packet_path == PSA_PacketPath_t.NORMAL_MULTICAST) { hdr.op.path = 2; }
        if (istd.packet_path == PSA_PacketPath_t.CLONE_I2E) { hdr.op.path = 3; }
        if (istd.packet_path == PSA_PacketPath_t.CLONE_E2E) { hdr.op.path = 4; }
        hdr.op.class = (bit<8>) (ClassOfServiceUint_t) istd.class_of_service;
        if (istd.instance != (EgressInstance_t) 0) {
            hdr.op.instance = (EgressInstanceUint_t) istd.instance;
        }
        hdr.op.value = meta.value;
        if (hdr.op.kind == 7 && istd.packet_path == PSA_PacketPath_t.NORMAL_UNICAST) {
            ostd.clone = true;
            ostd.clone_session_id = (CloneSessionId_t) (CloneSessionIdUint_t) hdr.op.port;
            // Egress adds a header, and the clone has it, too.
            hdr.more = { 0xface };
        }
        if (hdr.op.kind == 8) { egress_drop(ostd); }
        if (istd.parser_error != error.NoError) { egress_drop(ostd); }
    }
}

control EgressDeparserImpl(
    packet_out packet, out value_t cloned, out value_t recirculated, inout headers_t hdr, in value_t meta,
    in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd)
{
    apply {
        if (psa_clone_e2e(istd)) { cloned.value = 0x4444; }
        if (psa_recirculate(istd, edstd)) { recirculated.value = 0x3333; }
        packet.emit(hdr);
    }
}

IngressPipeline(IngressParserImpl(), IngressImpl(), IngressDeparserImpl()) ingress;
EgressPipeline(EgressParserImpl(), EgressImpl(), EgressDeparserImpl()) egress;
PSA_Switch(ingress, PacketReplicationEngine(), egress, BufferingQueueingEngine()) main;
