#define WRONG(a) a + ; a
const bit<8> x = WRONG(1);
const bit<8> y = 2;
