heder ethernet_h {
    bit<48> dst;
}

contrl C(inout bit<8> x) {
    apply { }
}

strcut s { bit<8> a; }
