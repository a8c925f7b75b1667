const bit<8> a = 1;
#include "included/wrong.p4"
const bit<8> b = 2;
