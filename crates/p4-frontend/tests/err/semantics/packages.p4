#include "included/bare.p4"
struct other_t { bit<8> x; }
control Two(inout headers_t hdr) { apply { } }
control WrongType(inout other_t hdr, inout intrinsic_t intrinsic) { apply { } }
control WrongDirection(in headers_t hdr, inout intrinsic_t intrinsic) { apply { } }
control Fine(inout headers_t hdr, inout intrinsic_t intrinsic) { apply { } }
Device(TakePair(), Two(), PutPair()) a;
Device(TakePair(), WrongType(), PutPair()) b;
Device(TakePair(), WrongDirection(), PutPair()) c;
Device(TakePair(), PutPair(), Fine()) d;
Device(TakePair(), Fine()) e;
Device(TakePair(), 7, PutPair()) f;
Fine() main;
