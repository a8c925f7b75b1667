// What the annotations of the language hold, and what structured annotations hold.
extern Counter { Counter(); }
Counter() one;
Counter() two;
match_kind { exact, ternary }
const bit<8> LIMIT = 3;

@pkginfo const bit<8> a = 0;
@pkginfo(version = "1") const bit<8> fine = 0;
@deprecated("use " ++ "b") bit<8> old() { return 0; }
@deprecated("a" | "b") bit<8> older() { return 0; }
@noWarn(unused) const bit<8> b = 0;
@hidden(1) const bit<8> c = 0;

@p4runtime_translation("x.org/port", string) type bit<9> named_t;
@p4runtime_translation("x.org/port", bit<32>) type bit<9> wide_t;
@p4runtime_translation("x.org/port", 32) type bit<9> numbered_t;
@p4runtime_translation("x.org/port", int<32>) type bit<9> signed_t;
@p4runtime_translation("x.org/port", bit<16 + 16>) type bit<9> computed_t;
@p4runtime_translation(bit<32>) type bit<9> without_uri_t;

struct member_t {
    @match(ternary) bit<8> a;
    @match(1 + 1) bit<8> b;
    @match(lpm) bit<8> c;
}

@limit[LIMIT + 1] const bit<8> d = 0;
@same[one == two] const bit<8> e = 0;
@depth[value = 4 < T] control Generic<T>(in T value) { apply { } }
control Local(in bit<8> value) {
    @seen[value] action act() { }
    apply { act(); }
}
