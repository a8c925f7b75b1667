// Actions of one name are one action for the control plane: with the same parameters, and never in one table.
#include "included/bare.p4"
control C(inout headers_t hdr, inout intrinsic_t intrinsic) {
    @name(".same") action set_a(bit<8> value) { hdr.pair.a = value; }
    @name(".same") action set_b(bit<8> value) { hdr.pair.b = value; }
    table one { actions = { set_a; } }
    table two { actions = { set_b; } }
    @name(".wide") action narrow(bit<8> value) { hdr.pair.a = value; }
    @name(".wide") action wide(bit<16> value) { hdr.pair.b = (bit<8>) value; }
    @name(".named") action left(bit<8> left) { hdr.pair.a = left; }
    @name(".named") action right(bit<8> right) { hdr.pair.b = right; }
    table three { actions = { narrow; left; } }
    table four { actions = { wide; right; } }
    @name(".both") action both_a() { hdr.pair.a = 1; }
    @name(".both") action both_b() { hdr.pair.b = 1; }
    table five { actions = { both_a; both_b; } }
    apply { one.apply(); two.apply(); three.apply(); four.apply(); five.apply(); }
}
Device(TakePair(), C(), PutPair()) main;
