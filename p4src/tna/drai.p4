// plain.p4 and DRAI: a packet carries the index of its path's most loaded hop.

#include "../include/tna/architecture.p4"
#include "../include/tna/headers.p4"
#include "../include/tna/types.p4"
#include "../controls/drai.p4"
#include "../controls/port_feedback.p4"
#include "../controls/tna/egress_counters.p4"
#include "../controls/tna/egress_deparser.p4"
#include "../controls/tna/egress_drop.p4"
#include "../controls/tna/egress_parser.p4"
#include "../controls/tna/hop_ingress.p4"
#include "../controls/tna/ingress_deparser.p4"
#include "../controls/tna/ingress_parser.p4"
#include "../controls/tna/rate_window.p4"
#include "../controls/tna/unmarked_options.p4"
#include "../controls/tna/window.p4"

@pa_container_size("egress", "window_octets_0", 16)
control HopEgress(inout egress_headers_t hdr,
                  inout egress_metadata_t meta,
                  in egress_intrinsic_metadata_t eg_intr_md,
                  in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
                  inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
                  inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    PortFeedback() port_feedback;
    Window() window;
    RateWindow() rate_window;
    Drai() drai;
    UnmarkedOptions() unmarked_options;
    EgressCounters() counters;
    EgressDrop() egress_drop;

    apply {
        feedback_t feedback;
        bit<32> octets;
        window_t in_window;
        window_octets_t window_octets;
        marked_t marked = { 0, 0, 0 };
        drop_cause_t drop_cause = drop_cause_t.NONE;

        port_feedback.apply(eg_intr_md.egress_port, feedback);
        window.apply(eg_prsr_md.global_tstamp[39:8], feedback.window_log2, in_window);
        octets = (bit<32>) hdr.ipv4.total_len;
        if (eg_intr_md.deflection_flag == 1) {
            drop_cause = drop_cause_t.QUEUE_FULL;
        }
        if (drop_cause != drop_cause_t.NONE) {
            egress_drop.apply(hdr.bridged.leaves_by, drop_cause, eg_dprsr_md);
        } else {
            if (hdr.ipv4.isValid() && meta.markable == 0) {
                unmarked_options.apply(hdr.bridged.came_by);
            }
            if (feedback.drai == 1 && hdr.ipv4.isValid()) {
                rate_window.apply(eg_intr_md.egress_port, octets, in_window, window_octets);
                if (meta.markable == 1) {
                    drai.apply(hdr.options.avbw, eg_intr_md.egress_port, eg_intr_md.deq_qdepth,
                               window_octets, marked.drai);
                }
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
