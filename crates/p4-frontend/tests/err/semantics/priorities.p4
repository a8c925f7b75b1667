// Each entry follows the one before it by `priority_delta`.
#include "included/bare.p4"
control Use(inout headers_t hdr, inout intrinsic_t intrinsic) {
    action none() { }
    table down {
        key = { hdr.pair.a: ternary; }
        actions = { none; }
        priority_delta = 10;
        entries = { priority = 12: 1: none(); 2: none(); 3: none(); 4: none(); }
        default_action = none;
    }
    table up {
        key = { hdr.pair.a: ternary; }
        actions = { none; }
        largest_priority_wins = false;
        entries = { priority = 2147483647: 1: none(); 2: none(); }
        default_action = none;
    }
    apply { down.apply(); up.apply(); }
}
Device(TakePair(), Use(), PutPair()) main;
