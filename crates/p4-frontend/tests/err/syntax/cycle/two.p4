#include "one.p4"
