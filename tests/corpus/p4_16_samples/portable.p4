#include <core.p4>
#include <psa.p4>

struct nothing_t {}

parser IngressParserImpl(
    packet_in packet, out nothing_t hdr, inout nothing_t meta, in psa_ingress_parser_input_metadata_t istd,
    in nothing_t resubmitted, in nothing_t recirculated)
{
    state start { transition accept; }
}
control IngressImpl(
    inout nothing_t hdr, inout nothing_t meta, in psa_ingress_input_metadata_t istd,
    inout psa_ingress_output_metadata_t ostd)
{
    apply { send_to_port(ostd, istd.ingress_port); }
}
control IngressDeparserImpl(
    packet_out packet, out nothing_t cloned, out nothing_t resubmitted, out nothing_t normal,
    inout nothing_t hdr, in nothing_t meta, in psa_ingress_output_metadata_t istd)
{
    apply {}
}
parser EgressParserImpl(
    packet_in packet, out nothing_t hdr, inout nothing_t meta, in psa_egress_parser_input_metadata_t istd,
    in nothing_t normal, in nothing_t cloned_ingress, in nothing_t cloned_egress)
{
    state start { transition accept; }
}
control EgressImpl(
    inout nothing_t hdr, inout nothing_t meta, in psa_egress_input_metadata_t istd,
    inout psa_egress_output_metadata_t ostd)
{
    apply {}
}
control EgressDeparserImpl(
    packet_out packet, out nothing_t cloned, out nothing_t recirculated, inout nothing_t hdr,
    in nothing_t meta, in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd)
{
    apply {}
}

PSA_Switch(
    IngressPipeline(IngressParserImpl(), IngressImpl(), IngressDeparserImpl()), PacketReplicationEngine(),
    EgressPipeline(EgressParserImpl(), EgressImpl(), EgressDeparserImpl()), BufferingQueueingEngine()) main;
