control C(inout bit<8> x) {
    apply {
        x = 1
        x = x + 1;
        x = f(x)
    }
}
