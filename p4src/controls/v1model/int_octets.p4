// v1model: queues and lines in octets of IPv4, modulo 2^32.
//
//   register         contents                                     written by
//   admitted_octets  of all packets admitted to a queue so far    IntArrival
//   sent_octets      of all packets that a port has sent          IntDeparture
//
// A packet carries the count at its arrival. The difference to the count at its departure is the queue behind it.

#ifndef WAYMARK_V1MODEL_INT_OCTETS_P4
#define WAYMARK_V1MODEL_INT_OCTETS_P4

#include <v1model.p4>
#include "../../include/constants.p4"
#include "../../include/v1model/types.p4"

register<bit<32>>(QUEUES) int_admitted_octets;
register<bit<32>>(PORTS)  int_sent_octets;

control IntArrival(in queue_place_t place, in bit<16> octets, out bit<32> admitted_octets)
                  (register<bit<32>> admitted) {
    action arrive() {
        admitted.read(admitted_octets, place.queue);
        admitted_octets = admitted_octets + (bit<32>) octets;
        admitted.write(place.queue, admitted_octets);
    }

    apply {
        arrive();
    }
}

control IntDeparture(in queue_place_t place,
                     in bit<32> admitted_octets,
                     in port_t port,
                     in bit<16> octets,
                     out bit<32> left_behind,
                     out bit<32> sent_octets)
                    (register<bit<32>> admitted, register<bit<32>> sent) {
    action look_behind() {
        admitted.read(left_behind, place.queue);
        left_behind = left_behind - admitted_octets;
    }

    action count_sent() {
        sent.read(sent_octets, (bit<32>) port);
        sent_octets = sent_octets + (bit<32>) octets;
        sent.write((bit<32>) port, sent_octets);
    }

    apply {
        look_behind();
        count_sent();
    }
}

#endif
