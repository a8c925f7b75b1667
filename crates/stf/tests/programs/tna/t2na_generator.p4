#include <t2na.p4>
#include "generator.p4"
