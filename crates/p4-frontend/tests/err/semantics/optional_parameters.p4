// A block may leave out optional parameters at the end of its type's, and no others.
control Type(inout bit<8> a, @optional inout bit<8> b, in bit<8> c, @optional in bit<8> d);
package Pair(Type one, @optional Type other);

control Complete(inout bit<8> a, inout bit<8> b, in bit<8> c, in bit<8> d) { apply {} }
control Enough(inout bit<8> a, inout bit<8> b, in bit<8> c) { apply {} }
control TooFew(inout bit<8> a, inout bit<8> b) { apply {} }
control TooMany(inout bit<8> a, inout bit<8> b, in bit<8> c, in bit<8> d, in bit<8> e) { apply {} }
control Directed(inout bit<8> a, inout bit<8> b, in bit<8> c, inout bit<8> d) { apply {} }

Pair(Complete(), Enough()) good;
Pair(TooFew(), TooMany()) bad;
Pair(Directed()) main;
