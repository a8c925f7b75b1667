// v1model: the IPv4 header checksum, including options. A field of an invalid header adds nothing to
// the sum, so one list works for every order of options. P4 cannot share the list between the two.

#ifndef WAYMARK_V1MODEL_CHECKSUM_P4
#define WAYMARK_V1MODEL_CHECKSUM_P4

#include <v1model.p4>
#include "../../include/v1model/headers.p4"

control VerifyIpv4Checksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(
            hdr.ipv4.isValid(),
            {
                hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len,
                hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset,
                hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src_addr, hdr.ipv4.dst_addr,
                hdr.options.before.octets,
                hdr.options.aqt0.option_type, hdr.options.aqt0.length,
                hdr.options.aqt0.aqt_us, hdr.options.aqt0.aqt_echo_us,
                hdr.options.between0.octets,
                hdr.options.avbw.option_type, hdr.options.avbw.length,
                hdr.options.avbw.drai, hdr.options.avbw.mrai_echo,
                hdr.options.between1.octets,
                hdr.options.aqt1.option_type, hdr.options.aqt1.length,
                hdr.options.aqt1.aqt_us, hdr.options.aqt1.aqt_echo_us,
                hdr.options.after.octets
            },
            hdr.ipv4.checksum,
            HashAlgorithm.csum16);
    }
}

control UpdateIpv4Checksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(
            hdr.ipv4.isValid(),
            {
                hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len,
                hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset,
                hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src_addr, hdr.ipv4.dst_addr,
                hdr.options.before.octets,
                hdr.options.aqt0.option_type, hdr.options.aqt0.length,
                hdr.options.aqt0.aqt_us, hdr.options.aqt0.aqt_echo_us,
                hdr.options.between0.octets,
                hdr.options.avbw.option_type, hdr.options.avbw.length,
                hdr.options.avbw.drai, hdr.options.avbw.mrai_echo,
                hdr.options.between1.octets,
                hdr.options.aqt1.option_type, hdr.options.aqt1.length,
                hdr.options.aqt1.aqt_us, hdr.options.aqt1.aqt_echo_us,
                hdr.options.after.octets
            },
            hdr.ipv4.checksum,
            HashAlgorithm.csum16);
    }
}

#endif
