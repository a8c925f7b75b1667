// Objects of the Portable Switch Architecture: each kind of extern, arrays with indices of a `type`, entries that age.
#include <core.p4>
#include <bmv2/psa.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> kind;
}

struct headers_t {
    ethernet_t ethernet;
}

struct learned_t {
    bit<48>  source;
    PortId_t port;
}

struct metadata_t {
    learned_t learned;
    bool      is_new;
}

struct nothing_t {}

type bit<12> flow_t;

parser IngressParserImpl(
    packet_in packet,
    out headers_t hdr,
    inout metadata_t meta,
    in psa_ingress_parser_input_metadata_t istd,
    in nothing_t resubmitted,
    in nothing_t recirculated)
{
    state start {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control IngressImpl(
    inout headers_t hdr,
    inout metadata_t meta,
    in psa_ingress_input_metadata_t istd,
    inout psa_ingress_output_metadata_t ostd)
{
    Counter<bit<64>, flow_t>(100, PSA_CounterType_t.PACKETS_AND_BYTES) flows;
    Counter<bit<32>, PortId_t>(8, PSA_CounterType_t.PACKETS) ports;
    DirectCounter<bit<64>>(PSA_CounterType_t.BYTES) hits;
    Meter<bit<10>>(1024, PSA_MeterType_t.BYTES) rates;
    DirectMeter(PSA_MeterType_t.PACKETS) own_rate;
    Register<bit<48>, flow_t>(100) last_seen;
    Register<PortId_t, bit<8>>(256, (PortId_t) 1) ports_of;
    ActionProfile(64) profile;
    ActionSelector(PSA_HashAlgorithm_t.CRC32, 128, 16) selector_group;
    Hash<bit<16>>(PSA_HashAlgorithm_t.CRC16) hash;
    Random<bit<8>>(0, 7) dice;

    action forward(PortId_t port) {
        send_to_port(ostd, port);
        hits.count();
    }
    action count_flow(flow_t flow) {
        flows.count(flow);
        last_seen.write(flow, (bit<48>) (TimestampUint_t) istd.ingress_timestamp);
    }

    table known {
        // A constant is named after the value that remains of it: 0xff.
        key = { hdr.ethernet.dst: exact; 8w0x1ff: exact; }
        actions = { forward; NoAction; }
        psa_direct_counter = hits;
        psa_idle_timeout = PSA_IdleTimeout_t.NOTIFY_CONTROL;
        size = 512;
    }
    table metered {
        key = { hdr.ethernet.src: ternary; istd.ingress_port: optional; }
        actions = { count_flow; NoAction; }
        psa_direct_meter = own_rate;
        psa_idle_timeout = PSA_IdleTimeout_t.NO_TIMEOUT;
    }
    table shared_actions {
        key = { hdr.ethernet.kind: range; }
        actions = { count_flow; NoAction; }
        psa_implementation = profile;
    }
    table spread {
        key = { hdr.ethernet.kind: exact; hdr.ethernet.src: selector; }
        actions = { count_flow; NoAction; }
        psa_implementation = selector_group;
    }

    apply {
        known.apply();
        if (own_rate.execute() == PSA_MeterColor_t.RED) {
            ingress_drop(ostd);
        }
        metered.apply();
        shared_actions.apply();
        spread.apply();
        ports.count(istd.ingress_port);
        if (rates.execute((bit<10>) hash.get_hash(16w0, hdr.ethernet.src, 16w1023)) == PSA_MeterColor_t.GREEN) {
            ports_of.write(dice.read(), ostd.egress_port);
        }
        meta.is_new = true;
        meta.learned = { hdr.ethernet.src, istd.ingress_port };
    }
}

control IngressDeparserImpl(
    packet_out packet,
    out nothing_t cloned,
    out nothing_t resubmitted,
    out nothing_t normal,
    inout headers_t hdr,
    in metadata_t meta,
    in psa_ingress_output_metadata_t istd)
{
    Digest<learned_t>() learn;
    apply {
        if (meta.is_new) {
            learn.pack(meta.learned);
        }
        packet.emit(hdr);
    }
}

parser EgressParserImpl(
    packet_in packet,
    out headers_t hdr,
    inout metadata_t meta,
    in psa_egress_parser_input_metadata_t istd,
    in nothing_t normal,
    in nothing_t cloned_ingress,
    in nothing_t cloned_egress)
{
    state start {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control EgressImpl(
    inout headers_t hdr,
    inout metadata_t meta,
    in psa_egress_input_metadata_t istd,
    inout psa_egress_output_metadata_t ostd)
{
    Counter<bit<64>, PortId_t>(8, PSA_CounterType_t.BYTES) sent;
    apply {
        sent.count(istd.egress_port);
    }
}

control EgressDeparserImpl(
    packet_out packet,
    out nothing_t cloned,
    out nothing_t recirculated,
    inout headers_t hdr,
    in metadata_t meta,
    in psa_egress_output_metadata_t istd,
    in psa_egress_deparser_input_metadata_t edstd)
{
    apply {
        packet.emit(hdr);
    }
}

IngressPipeline(IngressParserImpl(), IngressImpl(), IngressDeparserImpl()) ingress;
EgressPipeline(EgressParserImpl(), EgressImpl(), EgressDeparserImpl()) egress;
PSA_Switch(ingress, PacketReplicationEngine(), egress, BufferingQueueingEngine()) main;
