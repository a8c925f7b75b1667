// TNA: emits the headers in the order in which they arrived, behind the bridged header.

#ifndef WAYMARK_TNA_INGRESS_DEPARSER_P4
#define WAYMARK_TNA_INGRESS_DEPARSER_P4

#include "../../include/tna/headers.p4"
#include "../../include/tna/types.p4"

control HopIngressDeparser(packet_out packet,
                           inout headers_t hdr,
                           in metadata_t meta,
                           in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    Checksum() checksum;

    apply {
        // A header that is not valid adds nothing.
        if (hdr.ipv4.isValid()) {
            hdr.ipv4.checksum = checksum.update({
                hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len,
                hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset,
                hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src_addr, hdr.ipv4.dst_addr,
                hdr.options[0].octets, hdr.options[1].octets, hdr.options[2].octets,
                hdr.options[3].octets, hdr.options[4].octets, hdr.options[5].octets,
                hdr.options[6].octets, hdr.options[7].octets, hdr.options[8].octets,
                hdr.options[9].octets
            });
        }
        packet.emit(hdr.bridged);
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.vlan);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.options);
    }
}

#endif
