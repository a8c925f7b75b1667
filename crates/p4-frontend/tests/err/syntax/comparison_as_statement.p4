control C(inout bit<8> x) {
    apply {
        x == 1;
        x + 1;
        x;
    }
}
