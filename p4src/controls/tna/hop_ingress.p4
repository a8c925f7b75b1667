// TNA: the ingress of a router. The traffic manager limits the queues.

#ifndef WAYMARK_TNA_HOP_INGRESS_P4
#define WAYMARK_TNA_HOP_INGRESS_P4

#include "../../include/tna/headers.p4"
#include "../../include/tna/types.p4"
#include "../forwarding.p4"
#include "../packet_io.p4"
#include "header_check.p4"
#include "verdict.p4"

control HopIngress(inout headers_t hdr,
                   inout metadata_t meta,
                   in ingress_intrinsic_metadata_t ig_intr_md,
                   in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                   inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                   inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    HeaderCheck() header_check;
    PacketIo() packet_io;
    Forwarding() forwarding;
    Verdict() verdict;

    apply {
        header_check.apply(meta, ig_prsr_md.parser_err);
        if (meta.drop_cause == drop_cause_t.NONE) {
            if (hdr.packet_out.isValid() || !hdr.ipv4.isValid()) {
                packet_io.apply(hdr, meta, ig_intr_md.ingress_port);
            } else {
                forwarding.apply(hdr, meta);
            }
        }
        verdict.apply(hdr, meta, ig_intr_md.ingress_port, ig_prsr_md.global_tstamp,
                      ig_dprsr_md, ig_tm_md);
    }
}

#endif
