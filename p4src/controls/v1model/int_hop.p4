// v1model: handles the telemetry of a departing packet. Tables select source, transit and sink.

#ifndef WAYMARK_V1MODEL_INT_HOP_P4
#define WAYMARK_V1MODEL_INT_HOP_P4

#include <v1model.p4>
#include "../../include/constants.p4"
#include "../../include/v1model/int.p4"
#include "../int_lengths.p4"
#include "../int_source.p4"
#include "int_octets.p4"
#include "int_sink.p4"
#include "int_transit.p4"

control IntHop(inout int_headers_t hdr,
               in int_metadata_t meta,
               in standard_metadata_t standard_metadata)
              (register<bit<32>> admitted, register<bit<32>> sent) {
    IntSource() source;
    IntCheck() check;
    IntDeparture(admitted, sent) departure;
    IntRecord() record;
    IntSink() sink;
    IntLengths() lengths;

    // Index: 8 * egress port + int_event_t.
    counter(PORTS * 8, CounterType.packets) int_events;

    bit<1>    transits = 0;
    bit<1>    removes  = 0;
    bit<16>   link_mtu = 0;
    int_hop_t hop      = { 0, 0, 0, 0 };

    // node:      ID of this hop in the domain.
    // rate_kbps: line rate of the port, in kb/s.
    // mtu:       of the link: the longest IPv4 packet.
    action write_records(bit<32> node, bit<32> rate_kbps, bit<16> mtu) {
        transits      = 1;
        hop.node      = node;
        hop.rate_kbps = rate_kbps;
        link_mtu      = mtu;
    }

    // For neighbours that do not support telemetry.
    action remove_stack() {
        removes = 1;
    }

    table int_port {
        key = {
            standard_metadata.egress_port : exact @name("port");
        }
        actions = {
            write_records;
            remove_stack;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        size = PORTS;
    }

    action count(int_event_t event) {
        int_events.count((bit<32>) (standard_metadata.egress_port ++ (bit<3>) event));
    }

    apply {
        int_change_t change = { 0, 0, 0 };
        bit<1> writes = 0;

        int_port.apply();
        if (meta.malformed == 1) {
            count(int_event_t.MALFORMED);
        }
        if (transits == 1 && meta.whole_transport == 1 && !hdr.telemetry.shim.isValid()
                && hdr.hop.ipv4.dscp != INT_DSCP && hdr.hop.ipv4.total_len <= link_mtu |-| 16) {
            source.apply(hdr.hop.ipv4, hdr.telemetry, change, standard_metadata.ingress_port);
            if (hdr.telemetry.shim.isValid()) {
                count(int_event_t.STARTED);
            }
        }
        if (hdr.telemetry.shim.isValid()) {
            if (removes == 1 && hdr.telemetry.stack.isValid()
                    && hdr.telemetry.shim.next_type == INT_NEXT_TYPE_DSCP) {
                sink.apply(hdr.hop.ipv4, hdr.telemetry, change);
                count(int_event_t.REMOVED);
            } else if (removes == 1) {
                count(int_event_t.UNSUPPORTED);
            } else if (transits == 1) {
                int_event_t event;
                check.apply(hdr.telemetry, hdr.hop.ipv4.total_len, link_mtu, change, writes, event);
                count(event);
            }
        }
        departure.apply(meta.hop.place, meta.admitted_octets, standard_metadata.egress_port,
                        hdr.hop.ipv4.total_len + change.added - change.removed,
                        hop.left_behind, hop.sent_octets);
        if (writes == 1) {
            record.apply(hdr.telemetry, hop, change, standard_metadata);
        }
        if (change.sum != 0) {
            lengths.apply(hdr.hop.ipv4, hdr.telemetry, change);
        }
    }
}

#endif
