// Packages within a package: a block is named by its path, and blocks of two packages share the parameters that
// `Switch` declares with one type (B), not those of types that only look alike (A and C).
extern Engine { Engine(); }
struct s_t { bit<8> x; }
control First<A, B>(inout A a, out B b);
control Second<B, C>(in B b, inout C c);
package Front<A, B>(First<A, B> only);
package Back<B, C>(Second<B, C> one, Second<B, C> other);
package Switch<A, B, C>(Front<A, B> front, Engine engine, Back<B, C> back);

control F(inout s_t a, out s_t b) { apply { b.x = a.x; } }
control G(in s_t b, inout s_t c) { apply { c.x = b.x; } }
control H(in s_t b, inout s_t c) { apply { c.x = c.x + b.x; } }

Front(F()) front;
Switch(front, Engine(), Back(G(), H())) main;
