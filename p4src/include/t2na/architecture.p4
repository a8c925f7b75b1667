// T2NA, in place of TNA: both files have the same guard.

#ifndef WAYMARK_ARCHITECTURE_P4
#define WAYMARK_ARCHITECTURE_P4

#include <core.p4>
#include <t2na.p4>

#endif
