// v1model: the end of ingress. Each packet is counted once, and sent or dropped.

#ifndef WAYMARK_V1MODEL_VERDICT_P4
#define WAYMARK_V1MODEL_VERDICT_P4

#include <v1model.p4>
#include "../../include/constants.p4"
#include "../../include/v1model/types.p4"

control Verdict(inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    // Index: the port a packet came by.
    counter(PORTS, CounterType.packets_and_bytes) received;
    counter(PORTS, CounterType.packets) malformed_options;

    // Index: 8 * port + drop_cause_t. The port is the refusing queue's, else the one it came by.
    counter(PORTS * 8, CounterType.packets) drops;

    apply {
        port_t came_by = standard_metadata.ingress_port;
        received.count((bit<32>) came_by);

        if (meta.drop_cause != drop_cause_t.NONE) {
            port_t port = came_by;
            if (meta.drop_cause == drop_cause_t.QUEUE_FULL || meta.drop_cause == drop_cause_t.RED) {
                port = meta.egress_port;
            }
            drops.count((bit<32>) (port ++ (bit<3>) meta.drop_cause));
            mark_to_drop(standard_metadata);
        } else {
            if (meta.options_malformed == 1) {
                malformed_options.count((bit<32>) came_by);
            }
            standard_metadata.egress_spec = meta.egress_port;
        }
    }
}

#endif
