// tna/red.p4 on Tofino 2.

#include "../include/t2na/architecture.p4"
#include "../tna/red.p4"
