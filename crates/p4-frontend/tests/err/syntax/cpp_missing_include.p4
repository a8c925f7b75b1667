#include "nowhere.p4"
#include <nowhere.p4>
#include
#include core.p4
