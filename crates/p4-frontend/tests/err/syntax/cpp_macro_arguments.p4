#define TWO(a, b) a + b
#define BAD(a, 1) a
#define BAD2(a
const bit<8> a = TWO(1);
const bit<8> b = TWO(1, 2, 3);
const bit<8> c = TWO((1, 2), 3;
#define X 1
const bit<8> d = 1;
