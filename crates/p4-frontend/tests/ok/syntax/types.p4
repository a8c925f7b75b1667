// Every form of type and of declaration of types.
typedef bit<8> byte_t;
type bit<9> port_t;
typedef tuple<bit<8>, tuple<bool, int<4>>> nested_t;
const bit<(2 + 2)> four = 4;
const bit one = 1;
const int any = -5;

header one_h<T> {
    bit<8>       length;
    varbit<320>  options;
    T            rest;
}
header two_h { byte_t a; int<7> b; bool c; bit<16> type; bit<8> key; bit<8> state; }
header_union either_h { two_h a; two_h b; }
struct all_t {
    two_h[4]         stack;
    one_h<bit<8>>[2] generic_stack;
    either_h         union;
    error            e;
    tuple<>          nothing;
    list<bit<8>>     many;
    bit<8>           apply;
    bit<8>           priority;
}
enum Plain { a, b, c, }
enum bit<8> Numbered { one = 1, two = 1 + 1 }
enum port_t Ports { cpu = 9w510 }
error { TooLong, TooShort, }
match_kind { fuzzy }
extern int f<T>(in T x);
Type same<Type>(in Type x) { return x; }
extern Box<T, U> {
    @annotated
    Box(bit<32> size);
    Box();
    T get<V>(in U index, out V other);
    abstract void put(in T x);
}
parser P<H>(packet_in b, out H h);
control C<H, M>(inout H h, inout M m);
package Pipe<H, M>(P<H> p, C<H, M> c, bit<8> size = 4,);
extern packet_in { }
