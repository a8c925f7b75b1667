// The Portable Switch Architecture as p4c's DPDK target extends it.
#define PSA_DPDK
#include <psa.p4>
