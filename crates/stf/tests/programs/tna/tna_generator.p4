#include <tna.p4>
#include "generator.p4"
