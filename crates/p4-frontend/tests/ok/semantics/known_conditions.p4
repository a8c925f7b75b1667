// A condition on a constructor's parameter is known: only the branch taken is lowered. The tables of the other are no
// tables of the control plane, so the two may have one name.
#include "included/bare.p4"
control Next(inout bit<8> to)(bool ternary_keys, bit<8> limit) {
    action set(bit<8> value) { to = value; }
    @name("next") table exact_next { key = { to: exact; } actions = { set; } }
    @name("next") table ternary_next { key = { to: ternary; } actions = { set; } }
    apply {
        if (ternary_keys) { ternary_next.apply(); } else { exact_next.apply(); }
        if (to == 1) { to = 2; } else if (limit > 7) { to = 3; } else if (to == 4) { to = 5; } else { to = 6; }
        if (limit > 100) { to = 7; }
    }
}
control Two(inout headers_t hdr, inout intrinsic_t intrinsic) {
    Next(true, 5) a;
    Next(false, 9) b;
    apply { a.apply(hdr.pair.a); b.apply(hdr.pair.b); }
}
Device(TakePair(), Two(), PutPair()) main;
