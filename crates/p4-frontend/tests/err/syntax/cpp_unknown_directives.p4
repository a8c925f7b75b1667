#inculde <core.p4>
#import "x"
#enum bit<8> e { A = 1 }
#define
#define 12 3
#undef
#line x
#
