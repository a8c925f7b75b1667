const bit<8> a = 0b102;
const bit<8> b = 8w0xfg;
const bit<8> c = 0x;
const bit<8> d = 12abc;
const bit<8> e = 99999999w1;
const bit<8> f = 8w;
