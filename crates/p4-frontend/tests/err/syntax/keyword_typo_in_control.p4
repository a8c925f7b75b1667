control C(inout bit<8> x) {
    acton a() { }
    tabel t {
        actions = { a; }
    }
    aply {
        a();
    }
}
