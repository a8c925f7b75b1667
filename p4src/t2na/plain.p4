// tna/plain.p4 on Tofino 2.

#include "../include/t2na/architecture.p4"
#include "../tna/plain.p4"
