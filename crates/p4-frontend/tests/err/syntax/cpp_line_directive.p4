#line 100 "generated.p4"
const bit<8> a = __LINE__;
const bit<8> b = ;
