extern T id<T>(in T x);
extern bit<8> two<T, U>(in T x, in U y);
extern bit<8> pair(in bool x, in bool y);
struct point_t { bit<8> x; bit<8> y; }
typedef bit<8> byte_t;
const string s = "one" ++ "two";
const bit<8> slices = (12w0xabc)[11:4] + (12w0xabc)[0+:8];
const bit<8> shifts = 8w1 << 3 >> 1;
const bool angles = 1 < 2 == 2 > 1 && 3 >= 2 || 2 <= 3;
const bit<8> saturated = 8w1 |+| 2 |-| 3;
const point_t by_position = { 1, 2 };
const point_t by_name = { y = 2, x = 1, };
const point_t partial = { 1, ... };
const point_t partial_named = { x = 1, ... };
const point_t all = ...;
const bit<8> choice = true ? 8w1 : false ? 2 : 3;
const bit<8> unary = ~(-(+8w1));
const bool not = !true;
const error e = error.NoError;
action a(inout bit<8> x, bit<8> c, bit<8> d) {
    x = (byte_t) - x;
    x = (x) - x;
    x = (bit<8>) (bit<4>) x;
    x = id<bit<8>>(x);
    x = id<byte_t>(id(x));
    x = two<byte_t, tuple<bit<8>>>(x, { x });
    x = pair(x < c, d > (x));
    x = two<_, byte_t>(y = x, x = _);
    x = (byte_t)(x);
    x = .id(x);
    x[7:4] = 1;
    x[0+:4] = 2;
    x += 1; x -= 1; x *= 2; x /= 2; x %= 2; x &= 1; x |= 1; x ^= 1; x <<= 1; x >>= 1; x |+|= 1; x |-|= 1;
    two_h h = {#};
    h = (two_h) {#};
    point_t p = (point_t) { x = 1, y = 2 };
}
