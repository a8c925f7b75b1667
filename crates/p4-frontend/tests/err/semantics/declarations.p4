#include "included/arch.p4"
const bit<8> a = 1;
const bit<8> a = 2;
struct twice_t { bit<8> x; bit<8> x; }
header bad_h { twice_t inner; error problem; string text; }
header_union u { bit<8> x; }
enum bit<8> E { one = 1, two }
enum F { three = 3 }
enum error G { four = 4 }
typedef bad_h[0] none_t;
typedef string[2] texts_t;
typedef int<0> narrow_t;
typedef bit<-1> negative_t;
type twice_t new_t;
error { NoError }
const bit<8> unknown = a + b;
struct generic_t<T> { T x; }
typedef generic_t bare_t;
typedef generic_t<bit<8>, bit<8>> full_t;
