#inculde <core.p4>
#import "x"
#define
#define 12 3
#undef
#line x
#
