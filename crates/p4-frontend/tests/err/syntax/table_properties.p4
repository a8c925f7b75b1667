control C(inout bit<8> x) {
    action a() { }
    action b() { }
    table t {
        key = { x; }
        actions = { a, b }
        default_action a();
        size = 16;
    }
    table u {
        key = { x : exact }
        actions = { a; b; }
        const entries = {
            1 : a();
            2 a();
            (3) : b;
        }
    }
    apply { t.apply(); }
}
