typedef bit<8>;
const bit<8> a;
header h
struct s { bit<8> }
extern void f(;
package P<T(T x);
