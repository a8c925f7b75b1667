state start {
    transition accept;
}

control c() {
    state start {
        transition accept;
    }
    apply { }
}
