#ifndef GUARDED
#define GUARDED
const bit<8> guarded = 1;
#endif
