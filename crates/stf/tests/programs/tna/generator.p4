// Packets of the packet generator: application 1 has a timer, 2 waits for a port to go down, 3 for a recirculated packet.
// They leave through port 2, what the hardware put in front of them laid out in whole octets. On Tofino 2, a packet that
// begins with d5 leaves through port 3, and asks for packets of application 4. Other packets recirculate once, and leave
// through port 3.

header seen_h {
    bit<8>  pipe_id;
    bit<8>  app_id;
    bit<32> cause;
    bit<16> packet_id;
    bit<16> port;
}

header context_h {
    bit<128> octets;
}

header ask_h {
    bit<8>   kind;
    bit<16>  line;
    bit<16>  octets;
    bit<128> context;
}

struct headers_t {
    ask_h                     ask;
    seen_h                    seen;
    pktgen_timer_header_t     timer;
    pktgen_port_down_header_t port_down;
    pktgen_recirc_header_t    recirculated;
    context_h                 context;
}

struct metadata_t {
    bit<128> asked;
}

#if __TARGET_TOFINO__ == 1
#define RECIRCULATION_PORT 68
#define APP_MASK 0x07
#else
#define RECIRCULATION_PORT 6
#define APP_MASK 0x0f
#endif

parser IngressParser(
    packet_in packet, out headers_t hdr, out metadata_t md, out ingress_intrinsic_metadata_t intrinsic)
{
    state start {
        packet.extract(intrinsic);
        packet.advance(PORT_METADATA_SIZE);
        transition select(packet.lookahead<bit<8>>()) {
            1 &&& APP_MASK: parse_timer;
            2 &&& APP_MASK: parse_port_down;
            3 &&& APP_MASK: parse_recirculated;
#if __TARGET_TOFINO__ == 2
            4 &&& APP_MASK: parse_recirculated;
            0xd5: parse_ask;
#endif
            default: accept;
        }
    }
    state parse_timer {
        packet.extract(hdr.timer);
        transition accept;
    }
    state parse_port_down {
        packet.extract(hdr.port_down);
        transition accept;
    }
    state parse_ask {
        packet.extract(hdr.ask);
        transition accept;
    }
    state parse_recirculated {
        packet.extract(hdr.recirculated);
#if __TARGET_TOFINO__ == 2
        packet.extract(hdr.context);
#endif
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
        for_tm.bypass_egress = 1;
        for_tm.ucast_egress_port = 2;
        hdr.seen.port = (bit<16>) intrinsic.ingress_port;
        if (hdr.timer.isValid()) {
            hdr.seen.setValid();
            hdr.seen.pipe_id = (bit<8>) hdr.timer.pipe_id;
            hdr.seen.app_id = (bit<8>) hdr.timer.app_id;
            hdr.seen.cause = (bit<32>) hdr.timer.batch_id;
            hdr.seen.packet_id = hdr.timer.packet_id;
            hdr.timer.setInvalid();
        } else if (hdr.port_down.isValid()) {
            hdr.seen.setValid();
            hdr.seen.pipe_id = (bit<8>) hdr.port_down.pipe_id;
            hdr.seen.app_id = (bit<8>) hdr.port_down.app_id;
            hdr.seen.cause = (bit<32>) hdr.port_down.port_num;
            hdr.seen.packet_id = hdr.port_down.packet_id;
            hdr.port_down.setInvalid();
        } else if (hdr.recirculated.isValid()) {
            hdr.seen.setValid();
            hdr.seen.pipe_id = (bit<8>) hdr.recirculated.pipe_id;
            hdr.seen.app_id = (bit<8>) hdr.recirculated.app_id;
#if __TARGET_TOFINO__ == 1
            hdr.seen.cause = (bit<32>) hdr.recirculated.key;
#else
            hdr.seen.cause = (bit<32>) hdr.recirculated.batch_id;
#endif
            hdr.seen.packet_id = hdr.recirculated.packet_id;
            hdr.recirculated.setInvalid();
#if __TARGET_TOFINO__ == 2
        } else if (hdr.ask.isValid()) {
            for_tm.ucast_egress_port = 3;
            for_deparser.pktgen = 1;
            for_deparser.pktgen_address = hdr.ask.line[13:0];
            for_deparser.pktgen_length = hdr.ask.octets[9:0];
            md.asked = hdr.ask.context;
#endif
        } else if (intrinsic.ingress_port == RECIRCULATION_PORT) {
            for_tm.ucast_egress_port = 3;
        } else {
            for_tm.ucast_egress_port = RECIRCULATION_PORT;
        }
    }
}

control IngressDeparser(
    packet_out packet, inout headers_t hdr, in metadata_t md,
    in ingress_intrinsic_metadata_for_deparser_t for_deparser)
{
#if __TARGET_TOFINO__ == 2
    Pktgen() generator;
#endif
    apply {
#if __TARGET_TOFINO__ == 2
        if (for_deparser.pktgen == 1) {
            generator.emit(md.asked);
        }
#endif
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
    apply { packet.emit(hdr); }
}

Switch(
    Pipeline(
        IngressParser(), Ingress(), IngressDeparser(),
        EgressParser(), Egress(), EgressDeparser()
    )
) main;
