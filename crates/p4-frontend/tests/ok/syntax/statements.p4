control Inner<T>(inout T x)(bit<8> size) { apply { } }
control C(inout bit<8> x, in bit<8>[4] list) {
    bit<8> local = 1;
    const bit<8> fixed = 2;
    Inner<bit<8>>(4) inner;
    @name("again") Inner(size = 5) second;
    action a() { }
    action b(bit<8> v) { return; }
    table t {
        key = { x : exact @name("x"); local + 1 : ternary; x[3:0] : fuzzy; }
        actions = { a; @defaultonly b; .NoAction; }
        const default_action = b(1);
        size = 1 << 10;
        const entries = {
            (1, 2 &&& 3, 4 .. 5) : a();
            const priority = 10 : (_, default, 7) : b(2);
            (bit<8>) 3 : a;
        }
        @custom implementation = action_profile(32);
        key_extra = { 1, 2 };
    }
    apply @quiet {
        ;
        { x = 1; { } }
        @atomic { x = 2; }
        if (x == 1) x = 2; else if (x == 2) { x = 3; } else x = 4;
        switch (t.apply().action_run) {
            a: { }
            b:
            default: { exit; }
        }
        switch (x) {
            1:
            2 + 1: { x = 1; }
            (x): { }
        }
        for (bit<8> i = 0, bit<8> j = 1; i < 4; i += 1, j = j << 1) { if (i == j) continue; break; }
        for (; x < 4;) x += 1;
        for (x = 0; x < 4; x += 1) { }
        @unroll for (bit<8> i in 1 .. (x + 3)) x = i;
        for (bit<8> i in list) { x = i; }
        inner.apply(x);
        Inner<bit<8>>.apply(x);
        Inner.apply(x);
        bit<8>[4] copy = list;
        copy[1] = x;
        const bit<8> constant = 1;
        if (t.apply().hit) return;
    }
}
