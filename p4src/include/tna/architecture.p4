// TNA. A program in t2na/ includes T2NA first, whose file has the same guard.

#ifndef WAYMARK_ARCHITECTURE_P4
#define WAYMARK_ARCHITECTURE_P4

#include <core.p4>
#include <tna.p4>

#endif
