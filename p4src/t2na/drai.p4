// tna/drai.p4 on Tofino 2.

#include <core.p4>
#include <t2na.p4>

#include "../tna/drai.p4"
