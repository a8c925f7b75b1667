#include "cycle/one.p4"
const bit<8> a = 1;
