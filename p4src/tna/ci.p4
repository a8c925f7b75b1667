// plain.p4 and CI: a mark means that the packet was waiting when another was refused.

#include "../include/tna/architecture.p4"
#include "../include/tna/headers.p4"
#include "../include/tna/types.p4"
#include "../controls/ci.p4"
#include "../controls/port_feedback.p4"
#include "../controls/tna/egress_counters.p4"
#include "../controls/tna/egress_deparser.p4"
#include "../controls/tna/egress_drop.p4"
#include "../controls/tna/egress_parser.p4"
#include "../controls/tna/hop_ingress.p4"
#include "../controls/tna/ingress_deparser.p4"
#include "../controls/tna/ingress_parser.p4"
#include "../controls/tna/refusals.p4"
#include "../controls/tna/unmarked_options.p4"

control HopEgress(inout egress_headers_t hdr,
                  inout egress_metadata_t meta,
                  in egress_intrinsic_metadata_t eg_intr_md,
                  in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
                  inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
                  inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    PortFeedback() port_feedback;
    Refusals() refusals;
    Ci() ci;
    UnmarkedOptions() unmarked_options;
    EgressCounters() counters;
    EgressDrop() egress_drop;

    apply {
        feedback_t feedback;
        bit<1> waited_at_refusal;
        marked_t marked = { 0, 0, 0 };
        drop_cause_t drop_cause = drop_cause_t.NONE;

        port_feedback.apply(eg_intr_md.egress_port, feedback);
        refusals.apply(hdr.bridged.leaves_by, hdr.bridged.arrived, eg_intr_md.deflection_flag,
                       waited_at_refusal);
        if (eg_intr_md.deflection_flag == 1) {
            drop_cause = drop_cause_t.QUEUE_FULL;
        }
        if (drop_cause != drop_cause_t.NONE) {
            egress_drop.apply(hdr.bridged.leaves_by, drop_cause, eg_dprsr_md);
        } else {
            if (hdr.ipv4.isValid() && meta.markable == 0) {
                unmarked_options.apply(hdr.bridged.came_by);
            }
            if (feedback.ci == 1 && meta.markable == 1) {
                ci.apply(hdr.ipv4, waited_at_refusal, marked.ci);
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
