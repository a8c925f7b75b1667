// An instance implements the abstract methods of its extern, in the scope around it. `this` is the instance; what its
// initializer declares is called after it; optional parameters and methods may be left out. Methods determine type
// arguments that are left open.
extern Cells<T> { Cells(bit<32> size); }
extern Coin { Coin(); bool toss(); }
extern Action<T, U> {
    Action(Cells<_> cells);
    U run(in bit<8> index);
    U index();
    abstract void apply(inout T value, @optional out U given);
    @optional abstract void full();
    abstract U start(in bit<8> from);
}
control Type(inout bit<8> x, @optional in bit<8> y);
package Top(Type c);

struct pair_t { bit<8> low; bit<8> high; }
Cells<bit<8>>(16) cells;

control C(inout bit<8> x) {
    Cells<pair_t>(4) pairs;
    bit<8> step = 1;

    @pragma stage 3
    Action<bit<8>, bit<8>>(cells) add = {
        void apply(inout bit<8> value) {
            bit<8> sum = value + step;
            value = sum;
        }
        bit<8> start(in bit<8> from) { return from + this.index(); }
    };
    Action<pair_t, bit<16>>(pairs) swap = {
        Coin() coin;
        void apply(inout pair_t value, out bit<16> given) {
            if (coin.toss()) {
                value = { value.high, value.low };
            }
            given = value.low ++ value.high;
        }
        bit<16> start(in bit<8> from) { return (bit<16>) from; }
    };
    Action<_, _>(pairs) open = {
        void apply(inout pair_t value, out bit<16> given) { given = value.low ++ value.high; }
        bit<16> start(in bit<8> from) { return (bit<16>) from; }
    };
    apply {
        x = add.run(x);
        x = x + swap.run(0)[7:0] + open.run(0)[7:0];
    }
}
Top(C()) main;
