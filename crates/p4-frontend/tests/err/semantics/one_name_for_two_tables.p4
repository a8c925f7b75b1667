// Two instances of a control share the names that begin with a dot.
#include "included/bare.p4"
control Inner(inout headers_t hdr) {
    @name(".shared") action shared_action() { }
    @name(".shared") table shared {
        key = { hdr.pair.a: exact; }
        actions = { shared_action; }
        default_action = shared_action;
    }
    table own { key = { hdr.pair.a: exact; } actions = { shared_action; } default_action = shared_action; }
    apply { shared.apply(); own.apply(); }
}
control Use(inout headers_t hdr, inout intrinsic_t intrinsic) {
    Inner() first;
    Inner() second;
    apply { first.apply(hdr); second.apply(hdr); }
}
Device(TakePair(), Use(), PutPair()) main;
