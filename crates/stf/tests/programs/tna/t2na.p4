#include <t2na.p4>
#include "paths.p4"
