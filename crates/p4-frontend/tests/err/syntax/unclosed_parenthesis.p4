control C(inout bit<8> x) {
    apply {
        x = f(x, (x + 1);
        x = 2;
    }
}
