header h_t { bit<8> x; bit<8> y; }
parser P(packet_in b, out h_t h, inout bit<8> m)(bit<8> size) {
    value_set<bit<8>>(size) types;
    @name("pair") value_set<tuple<bit<8>, bit<8>>>(4) pairs;
    bit<8> local = 0;
    P(4) sub;
    state start {
        b.extract<h_t>(h);
        local = b.lookahead<bit<8>>();
        bit<8> inside = 1;
        if (local == inside) { m = 1; } else m = 2;
        { m = 3; }
        transition select(h.x, h.y) {
            (1, 2): next;
            (1 &&& 2, 3 .. 4): next;
            (_, default): other;
            pairs: next;
            default: accept;
        }
    }
    @deprecated("not this one")
    state next {
        sub.apply(b, h, m);
        transition select((bit<8>) h.x) {
            types: accept;
            (bit<8>) 3: other;
            (8w1 + 2) &&& 3: other;
            _: reject;
        }
    }
    state other { transition next; }
    state last { }
}
