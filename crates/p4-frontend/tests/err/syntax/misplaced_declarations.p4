table t {
    actions = { }
}
bit<8> counter_value = 0;
control C(inout bit<8> x) {
    struct s { bit<8> a; }
    value_set<bit<8>>(4) v;
    bit<8> f(in bit<8> a) { return a; }
    apply {
        action a() { }
        table t { }
    }
}
parser P(packet_in b) {
    action a() { }
    state start { transition accept; }
}
