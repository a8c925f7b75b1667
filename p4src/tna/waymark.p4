// The complete hop: a router with drop-tail and RED queues that writes AQT, DRAI and CI.

#include "../include/tna/architecture.p4"
#include "../include/tna/headers.p4"
#include "../include/tna/types.p4"
#include "../controls/aqt.p4"
#include "../controls/ci.p4"
#include "../controls/drai.p4"
#include "../controls/port_feedback.p4"
#include "../controls/tna/egress_counters.p4"
#include "../controls/tna/egress_deparser.p4"
#include "../controls/tna/egress_drop.p4"
#include "../controls/tna/egress_parser.p4"
#include "../controls/tna/hop_ingress.p4"
#include "../controls/tna/ingress_deparser.p4"
#include "../controls/tna/ingress_parser.p4"
#include "../controls/tna/queue_time.p4"
#include "../controls/tna/rate_window.p4"
#include "../controls/tna/red.p4"
#include "../controls/tna/refusals.p4"
#include "../controls/tna/unmarked_options.p4"
#include "../controls/tna/window.p4"

@pa_container_size("egress", "hdr.bridged.arrived", 32)
@pa_container_size("egress", "window_octets_0", 16)
control HopEgress(inout egress_headers_t hdr,
                  inout egress_metadata_t meta,
                  in egress_intrinsic_metadata_t eg_intr_md,
                  in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
                  inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
                  inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    PortFeedback() port_feedback;
    Refusals() refusals;
    Red() red;
    QueueTime() queue_time;
    Aqt() aqt0;
    Aqt() aqt1;
    Window() window;
    RateWindow() rate_window;
    Drai() drai;
    Ci() ci;
    UnmarkedOptions() unmarked_options;
    EgressCounters() counters;
    EgressDrop() egress_drop;

    apply {
        feedback_t feedback;
        bit<1> waited_at_refusal;
        bit<32> waited_us;
        bit<32> octets;
        window_t in_window;
        window_octets_t window_octets;
        marked_t marked = { 0, 0, 0 };
        drop_cause_t drop_cause = drop_cause_t.NONE;

        // Tofino 1 has no long branches: the tables under one `if` share their stages with no others. So only
        // counters and the rate wait for RED; the marks in a dropped packet do no harm.
        if (eg_intr_md.deflection_flag == 1) {
            drop_cause = drop_cause_t.QUEUE_FULL;
        }
        red.apply(hdr.ipv4, eg_intr_md.egress_port, eg_intr_md.enq_qdepth, drop_cause);
        port_feedback.apply(eg_intr_md.egress_port, feedback);
        refusals.apply(hdr.bridged.leaves_by, hdr.bridged.arrived, eg_intr_md.deflection_flag,
                       waited_at_refusal);
        queue_time.apply(hdr.bridged.arrived, eg_prsr_md.global_tstamp[39:8], waited_us);
        window.apply(eg_prsr_md.global_tstamp[39:8], feedback.window_log2, in_window);
        octets = (bit<32>) hdr.ipv4.total_len;
        if (feedback.drai == 1 && drop_cause == drop_cause_t.NONE && hdr.ipv4.isValid()) {
            rate_window.apply(eg_intr_md.egress_port, octets, in_window, window_octets);
        }
        if (feedback.aqt == 1 && meta.markable == 1) {
            if (hdr.options.aqt0.isValid()) {
                aqt0.apply(hdr.options.aqt0, waited_us, marked.aqt);
            } else {
                aqt1.apply(hdr.options.aqt1, waited_us, marked.aqt);
            }
        }
        if (feedback.ci == 1 && meta.markable == 1) {
            ci.apply(hdr.ipv4, waited_at_refusal, marked.ci);
        }
        if (feedback.drai == 1 && meta.markable == 1) {
            drai.apply(hdr.options.avbw, eg_intr_md.egress_port, eg_intr_md.deq_qdepth,
                       window_octets, marked.drai);
        }
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
