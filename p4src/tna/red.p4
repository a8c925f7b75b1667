// plain.p4 and RED: a queue drops early at random, more likely the longer it is.

#include "../include/tna/architecture.p4"
#include "../include/tna/headers.p4"
#include "../include/tna/types.p4"
#include "../controls/tna/egress_counters.p4"
#include "../controls/tna/egress_deparser.p4"
#include "../controls/tna/egress_drop.p4"
#include "../controls/tna/egress_parser.p4"
#include "../controls/tna/hop_ingress.p4"
#include "../controls/tna/ingress_deparser.p4"
#include "../controls/tna/ingress_parser.p4"
#include "../controls/tna/red.p4"
#include "../controls/tna/unmarked_options.p4"

control HopEgress(inout egress_headers_t hdr,
                  inout egress_metadata_t meta,
                  in egress_intrinsic_metadata_t eg_intr_md,
                  in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
                  inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
                  inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    Red() red;
    UnmarkedOptions() unmarked_options;
    EgressCounters() counters;
    EgressDrop() egress_drop;

    apply {
        marked_t marked = { 0, 0, 0 };
        drop_cause_t drop_cause = drop_cause_t.NONE;

        if (eg_intr_md.deflection_flag == 1) {
            drop_cause = drop_cause_t.QUEUE_FULL;
        }
        red.apply(hdr.ipv4, eg_intr_md.egress_port, eg_intr_md.enq_qdepth, drop_cause);
        if (drop_cause != drop_cause_t.NONE) {
            egress_drop.apply(hdr.bridged.leaves_by, drop_cause, eg_dprsr_md);
        } else {
            if (hdr.ipv4.isValid() && meta.markable == 0) {
                unmarked_options.apply(hdr.bridged.came_by);
            }
            counters.apply(eg_intr_md.egress_port, marked);
        }
    }
}

Pipeline(HopIngressParser(),
         HopIngress(),
         HopIngressDeparser(),
         HopEgressParser(),
         HopEgress(),
         HopEgressDeparser()) pipe;

Switch(pipe) main;
