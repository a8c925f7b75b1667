// TNA: RED, random early detection (Floyd and Jacobson 1993), of the queue as the packet found it.
//
// Only egress knows the depth of a queue, so RED drops there: a packet that found a long queue is
// dropped when it leaves it. There is no average: the stateful ALU has no shift by w. An early drop
// causes no marks. A refused packet is at another port here, the one for deflected packets, whose table is
// empty.

#ifndef WAYMARK_TNA_RED_P4
#define WAYMARK_TNA_RED_P4

#include "../../include/headers.p4"
#include "../../include/tna/types.p4"

// A probability of 1.
const bit<32> RED_CERTAIN = 1 << 16;

control Red(in ipv4_h ipv4,
            in port_t port,
            in bit<19> queue_depth,
            inout drop_cause_t drop_cause) {
    // Index: port. Writers: spend, restart. A packet that is subject to spaced drops costs its
    // probability; the one that takes the last of the credit is dropped.
    Register<bit<32>, port_t>(PORTS, RED_CERTAIN) red_credit;
    Random<bit<16>>() random;

    bit<16> draw;
    bit<16> chance;
    bit<32> price;   // 0: no spaced drops
    bit<32> credit;  // towards the next drop

    RegisterAction<bit<32>, port_t, bit<1>>(red_credit) spend = {
        void apply(inout bit<32> left, out bit<1> spent) {
            if (left <= price) {
                left  = credit;
                spent = 1;
            } else {
                left  = left - price;
                spent = 0;
            }
        }
    };

    RegisterAction<bit<32>, port_t, bit<1>>(red_credit) restart = {
        void apply(inout bit<32> left) {
            left = credit;
        }
    };

    // probability: in units of 2^-16.
    action drop_some(bit<16> probability) {
        chance = probability;
    }

    action drop_all() {
        drop_cause = drop_cause_t.RED;
    }

    // probability: of a drop, in units of 2^-16, on average over arrivals. The gaps between drops are
    // distributed uniformly from once to twice its inverse.
    action drop_spaced(bit<32> probability) {
        price = probability;
    }

    // Steps of rising probability from thmin to thmax, and certain drops above; none below.
    table red {
        key = {
            port        : exact @name("port");
            queue_depth : range @name("queue_depth");  // cells
        }
        actions = {
            drop_some;
            drop_all;
            drop_spaced;
            @defaultonly NoAction;
        }
        const default_action = NoAction();
        size = 1024;
    }

    apply {
        bit<1> spent = 0;
        draw   = random.get();
        credit = RED_CERTAIN + (bit<32>) draw;
        chance = 0;
        price  = 0;
        if (ipv4.isValid()) {
            red.apply();
        }
        chance = chance |-| draw;
        if (price != 0) {
            spent = spend.execute(port);
        } else if (ipv4.isValid()) {
            restart.execute(port);
        }
        if (chance != 0 || spent == 1) {
            drop_cause = drop_cause_t.RED;
        }
    }
}

#endif
