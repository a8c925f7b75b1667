control C(inout bit<8> x) {
    apply {
        swich (x) {
            1: { }
        }
        retrun;
        fi (x == 1) { }
    }
}
