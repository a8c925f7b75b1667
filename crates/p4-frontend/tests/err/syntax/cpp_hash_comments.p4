# Comments as in Python: p4c ignores them.
const bit<8> A = 1;
    # don't say "so
##undef A
### a heading ###
const bit<8> B = 2; # behind something else
# inculde <core.p4>
#comment
