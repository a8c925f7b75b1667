// TNA, unless the program is for T2NA: the programs in t2na/ include <t2na.p4> first.

#ifndef WAYMARK_TNA_ARCHITECTURE_P4
#define WAYMARK_TNA_ARCHITECTURE_P4

#include <core.p4>
#ifndef _T2NA_P4_
#include <tna.p4>
#endif

#endif
