#include "included/bare.p4"
control Use(inout headers_t hdr, inout intrinsic_t intrinsic) {
    action give(inout bit<8> to, bit<8> value) { to = value; }
    action none() { }
    table one {
        key = { hdr.pair.a: exat; hdr.pair: exact; hdr.pair.b: exact; }
        actions = { give; give(hdr.pair.c); none; none; missing; hdr; }
        default_action = other();
        size = true;
        size = 3;
    }
    table two { key = { hdr.pair.a: exact; hdr.pair.b: ternary; } actions = { none; give(hdr.pair.a); }
        entries = {
            (1): none();
            (1 &&& 3, 2): none();
            (300, 7 .. 3): give(hdr.pair.a, 1);
            (1, 2): NoAction();
            (hdr.pair.a, 2): none();
            (1, _): give(1, 2, 3);
        }
        default_action = give(hdr.pair.a, hdr.pair.b);
    }
    table three { key = { } actions = { none; } entries = { 1: none(); } }
    table four { key = { hdr.pair.a: exact; } }
    apply { two.apply(1); one.hit(); bool b = two.apply().hits; }
}
