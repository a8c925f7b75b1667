// Sends each packet to port 2, and puts what the hardware says of it in front.

header queue_h {
    bit<48> mac;
    bit<48> ingress;
    bit<48> egress;
    bit<32> enqueued;
    bit<32> waited;
    bit<32> enqueued_behind;
    bit<32> left_behind;
    bit<16> port;
    bit<16> length;
    bit<8>  deflected;
}

header bridge_h {
    bit<48> mac;
    bit<48> ingress;
}

struct headers_t {
    bridge_h bridge;
    queue_h  queue;
}

struct metadata_t {}

parser IngressParser(
    packet_in packet, out headers_t hdr, out metadata_t md, out ingress_intrinsic_metadata_t intrinsic)
{
    state start {
        packet.extract(intrinsic);
        packet.advance(PORT_METADATA_SIZE);
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
        hdr.bridge.setValid();
        hdr.bridge.mac = intrinsic.ingress_mac_tstamp;
        hdr.bridge.ingress = from_parser.global_tstamp;
        for_tm.ucast_egress_port = 2;
        for_tm.deflect_on_drop = intrinsic.ingress_port[0:0];
    }
}

control IngressDeparser(
    packet_out packet, inout headers_t hdr, in metadata_t md,
    in ingress_intrinsic_metadata_for_deparser_t for_deparser)
{
    apply {
        packet.emit(hdr.bridge);
    }
}

parser EgressParser(
    packet_in packet, out headers_t hdr, out metadata_t md, out egress_intrinsic_metadata_t intrinsic)
{
    state start {
        packet.extract(intrinsic);
        packet.extract(hdr.bridge);
        transition accept;
    }
}

control Egress(
    inout headers_t hdr, inout metadata_t md, in egress_intrinsic_metadata_t intrinsic,
    in egress_intrinsic_metadata_from_parser_t from_parser,
    inout egress_intrinsic_metadata_for_deparser_t for_deparser,
    inout egress_intrinsic_metadata_for_output_port_t for_port)
{
    apply {
        hdr.queue.setValid();
        hdr.queue.mac = hdr.bridge.mac;
        hdr.queue.ingress = hdr.bridge.ingress;
        hdr.queue.egress = from_parser.global_tstamp;
        hdr.queue.enqueued = (bit<32>) intrinsic.enq_tstamp;
        hdr.queue.waited = (bit<32>) intrinsic.deq_timedelta;
        hdr.queue.enqueued_behind = (bit<32>) intrinsic.enq_qdepth;
        hdr.queue.left_behind = (bit<32>) intrinsic.deq_qdepth;
        hdr.queue.port = (bit<16>) intrinsic.egress_port;
        hdr.queue.length = intrinsic.pkt_length;
        hdr.queue.deflected = (bit<8>) intrinsic.deflection_flag;
        hdr.bridge.setInvalid();
    }
}

control EgressDeparser(
    packet_out packet, inout headers_t hdr, in metadata_t md,
    in egress_intrinsic_metadata_for_deparser_t for_deparser)
{
    apply {
        packet.emit(hdr.queue);
    }
}
