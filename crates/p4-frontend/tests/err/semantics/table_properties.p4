#include "included/bare.p4"
control Use(inout headers_t hdr, inout intrinsic_t intrinsic) {
    bit<8> own = 1;
    action none() { }
    table own_key { key = { own_key: exact; own: exact; } actions = { none; } }
    table late { default_action = none; actions = { none; } }
    table deltas {
        key = { hdr.pair.a: ternary; }
        actions = { none; }
        priority_delta = 0;
        largest_priority_wins = 1;
    }
    table groups { actions = { none; } default_action = none; psa_empty_group_action = none(); }
    apply { }
}
