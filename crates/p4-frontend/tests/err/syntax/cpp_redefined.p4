#define N 1
#define N 1
#define N 2
#define __LINE__ 3
#define PASTE(a, b) a ## b
const bit<8> a = PASTE(+, 1) PASTE(/, /);
const bit<8> b = N;
