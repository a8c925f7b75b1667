#include <tna.p4>
#include "paths.p4"
