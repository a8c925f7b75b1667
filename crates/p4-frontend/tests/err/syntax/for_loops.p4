control C(inout bit<8> x) {
    apply {
        for (bit<8> i = 0, i < 4, i += 1) { }
        for (i in 1...4) { }
        for (bit<8> i in) { }
        for bit<8> i in 1..4 { }
    }
}
