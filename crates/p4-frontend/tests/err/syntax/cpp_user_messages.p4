#define LIMIT 4
#if LIMIT > 3
#error LIMIT isn't in range: 1 to 3
#endif
#warning this is old
const bit<8> a = LIMIT;
