// Parsers that are applied under a condition, one way for each value of `h.way`. `h.sum` says what was parsed, and
// `h.trail` what was done: a digit for each step.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> way;
    bit<8> which;
    bit<8> sum;
    bit<32> trail;
    // Which of `last`, `items[0]`, `items[1]` and `items[2]` are there.
    bit<8> parsed;
}

header item_t {
    bit<8> value;
}

struct headers_t {
    h_t h;
    item_t[3] items;
    item_t last;
}

struct metadata_t {}

// Adds the value to `sum`, twice if it is 0xee. Rejects 0xff.
parser Item(packet_in packet, out item_t item, inout bit<8> sum) {
    bit<8> times = 1;

    state start {
        packet.extract(item);
        transition select(item.value) {
            0xff: reject;
            0xee: again;
            default: add;
        }
    }

    state again {
        times = times + 1;
        transition add;
    }

    state add {
        sum = sum + times * item.value;
        transition accept;
    }
}

// Applies under a condition what is itself applied under one.
parser Optional(packet_in packet, inout headers_t hdr, in bool there) {
    Item() item;

    state start {
        if (there) {
            item.apply(packet, hdr.last, hdr.h.sum);
        }
        hdr.h.trail = hdr.h.trail << 4 | 6;
        transition accept;
    }
}

// Writes its second parameter, on which the place of the first depends.
parser Move(packet_in packet, out item_t item, inout bit<8> which) {
    state start {
        packet.extract(item);
        which = 0;
        transition accept;
    }
}

bit<8> counted(inout bit<32> trail) {
    trail = trail << 4 | 7;
    return (bit<8>) trail[7:4];
}

parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    Item() item;
    Optional() optional;
    Move() move;

    state start {
        packet.extract(hdr.h);
        transition select(hdr.h.way) {
            0: without_else;
            1: chain;
            2: nested;
            3: changed;
            4: effects;
            5: moved;
            6: through_another;
            7: repeated;
            8: scope;
            9: without_name;
        }
    }

    state without_else {
        if (hdr.h.which == 1) {
            hdr.h.trail = hdr.h.trail << 4 | 1;
            item.apply(packet, hdr.last, hdr.h.sum);
            hdr.h.trail = hdr.h.trail << 4 | 2;
        }
        hdr.h.trail = hdr.h.trail << 4 | 3;
        transition accept;
    }

    state chain {
        if (hdr.h.which == 1) {
            item.apply(packet, hdr.last, hdr.h.sum);
        } else if (hdr.h.which == 2) {
            item.apply(packet, hdr.items[0], hdr.h.sum);
            item.apply(packet, hdr.items[1], hdr.h.sum);
        } else if (hdr.h.which == 3) {
            hdr.h.trail = hdr.h.trail << 4 | 1;
        } else {
            hdr.h.trail = hdr.h.trail << 4 | 2;
            item.apply(packet, hdr.items[2], hdr.h.sum);
        }
        hdr.h.trail = hdr.h.trail << 4 | 3;
        transition accept;
    }

    state nested {
        if (hdr.h.which[0:0] == 1) {
            if (hdr.h.which[1:1] == 1) {
                item.apply(packet, hdr.items[0], hdr.h.sum);
            } else {
                hdr.h.trail = hdr.h.trail << 4 | 1;
            }
            hdr.h.trail = hdr.h.trail << 4 | 2;
        } else {
            {
                if (hdr.h.which[1:1] == 1) {
                    hdr.h.trail = hdr.h.trail << 4 | 3;
                } else {
                    item.apply(packet, hdr.items[1], hdr.h.sum);
                }
            }
            hdr.h.trail = hdr.h.trail << 4 | 4;
        }
        hdr.h.trail = hdr.h.trail << 4 | 5;
        transition accept;
    }

    // The branch changes what the condition read.
    state changed {
        if (hdr.h.sum == 0) {
            item.apply(packet, hdr.last, hdr.h.sum);
        } else {
            hdr.h.sum = 0;
            item.apply(packet, hdr.items[0], hdr.h.sum);
        }
        transition accept;
    }

    // Each condition is evaluated once, and only if those before it failed.
    state effects {
        if (counted(hdr.h.trail) == hdr.h.which) {
            item.apply(packet, hdr.last, hdr.h.sum);
        } else if (counted(hdr.h.trail) == hdr.h.which) {
            item.apply(packet, hdr.items[0], hdr.h.sum);
        }
        transition accept;
    }

    // The first argument's place is found before the call.
    state moved {
        if (hdr.h.which < 3) {
            move.apply(packet, hdr.items[hdr.h.which], hdr.h.which);
        }
        transition accept;
    }

    state through_another {
        if (hdr.h.which != 0) {
            optional.apply(packet, hdr, hdr.h.which == 2);
        }
        hdr.h.trail = hdr.h.trail << 4 | 1;
        transition accept;
    }

    // A state that splits is entered again.
    state repeated {
        if (hdr.h.which != 0) {
            item.apply(packet, hdr.last, hdr.h.sum);
            hdr.h.which = hdr.h.which - 1;
        }
        hdr.h.trail = hdr.h.trail << 4 | 1;
        transition select(hdr.h.which) {
            0: accept;
            default: repeated;
        }
    }

    // Variables keep their values across the split, and each branch has its own.
    state scope {
        bit<8> kept = hdr.h.sum;
        if (hdr.h.which == 1) {
            bit<8> own = 1;
            item.apply(packet, hdr.last, own);
            kept = kept + own;
        } else {
            bit<8> own = 2;
            item.apply(packet, hdr.last, own);
            kept = kept + own;
        }
        hdr.h.sum = kept;
        transition accept;
    }

    state without_name {
        if (hdr.h.which == 1) {
            Item.apply(packet, hdr.last, hdr.h.sum);
        } else {
            Item.apply(packet, hdr.items[0], hdr.h.sum);
        }
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Enter(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        if (sm.parser_error != error.NoError) {
            hdr.h.way = 0xee;
        }
        hdr.h.parsed = (bit<8>) ((bit<1>) hdr.last.isValid() ++ (bit<1>) hdr.items[0].isValid()
            ++ (bit<1>) hdr.items[1].isValid() ++ (bit<1>) hdr.items[2].isValid());
    }
}

control Leave(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {}
}

control Compute(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.h);
        packet.emit(hdr.last);
        packet.emit(hdr.items);
    }
}

V1Switch(Parse(), Verify(), Enter(), Leave(), Compute(), Deparse()) main;
