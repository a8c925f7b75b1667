control C(inout bit<8> x, in bit<8>[4] y) {
    apply {
        x = y[0);
    }
}
