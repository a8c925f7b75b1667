#include "two.p4"
