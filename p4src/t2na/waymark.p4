// tna/waymark.p4 on Tofino 2.

#include "../include/t2na/architecture.p4"
#include "../tna/waymark.p4"
