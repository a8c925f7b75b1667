// tna/ci.p4 on Tofino 2.

#include "../include/t2na/architecture.p4"
#include "../tna/ci.p4"
