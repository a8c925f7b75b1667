// A call must choose one declaration, and each of its arguments one parameter.
extern Taker {
    Taker();
    void take(in bit<8> left);
    void take(in bit<8> right);
    void put(in bit<8> a, in bit<8> b = 1);
    void put(in bit<8> a, in bool c = true);
    void put(in bit<8> a);
    void scale(in bit<8> a, in bool c, @optional in bit<8> b);
    void scale(in bit<8> a, @optional in bit<8> b);
}
control Use(inout bit<8> x) {
    Taker() taker;
    apply {
        taker.take(x);
        taker.take(right = x);
        taker.put(x);
        taker.put(a = x, c = false);
        taker.put(x, c = false);
        taker.put(x, 2);
        taker.scale(x, true);
        taker.scale(a = x, c = true);
    }
}
