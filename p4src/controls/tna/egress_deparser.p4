// TNA: emits the headers in the order in which they arrived.

#ifndef WAYMARK_TNA_EGRESS_DEPARSER_P4
#define WAYMARK_TNA_EGRESS_DEPARSER_P4

#include "../../include/tna/headers.p4"
#include "../../include/tna/types.p4"

control HopEgressDeparser(packet_out packet,
                          inout egress_headers_t hdr,
                          in egress_metadata_t meta,
                          in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    Checksum() checksum;

    apply {
        // The checksum of any other packet is that of ingress, which covers all options.
        if (meta.markable == 1) {
            hdr.ipv4.checksum = checksum.update({
                hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len,
                hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset,
                hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src_addr, hdr.ipv4.dst_addr,
                hdr.options.aqt0.option_type, hdr.options.aqt0.length,
                hdr.options.aqt0.aqt_us, hdr.options.aqt0.aqt_echo_us,
                hdr.options.avbw.option_type, hdr.options.avbw.length,
                hdr.options.avbw.drai, hdr.options.avbw.mrai_echo,
                hdr.options.aqt1.option_type, hdr.options.aqt1.length,
                hdr.options.aqt1.aqt_us, hdr.options.aqt1.aqt_echo_us
            });
        }
        packet.emit(hdr.ethernet);
        packet.emit(hdr.vlan);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.options);
    }
}

#endif
