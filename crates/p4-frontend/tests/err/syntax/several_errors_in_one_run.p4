header h_t { bit<8> x; bit<8 y; }

control C(inout h_t h) {
    action a( { h.x = 1; }
    action b() { h.x = ; h.y = 2; }
    apply {
        a();
        if h.x == 1 { b(); }
        h.x = h.y +;
        b();
    }
}

const bit<8> = 4;
