struct metadata_t {
    bit<8> class;
}

control C(inout metadata_t meta) {
    action set() {
        meta.class = 1;
    }
    apply {
        set();
    }

control D(inout metadata_t meta) {
    apply { }
}
