control C(inout bit<8> x) {
    apply { a(); }
    action a() { x = 1; }
    apply { }
}
