control C(inout bit<8> x) {
    apply {
        x = _;
        f(_, x = _);
    }
}
