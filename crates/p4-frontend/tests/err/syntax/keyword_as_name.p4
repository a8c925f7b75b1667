control C(inout bit<8> table) {
    bit<8> switch;
    apply { }
}
struct header { bit<8> x; }
