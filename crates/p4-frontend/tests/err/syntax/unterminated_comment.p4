const bit<8> a = 1;
/* this goes on
const bit<8> b = 2;
