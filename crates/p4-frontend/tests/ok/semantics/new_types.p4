// A number without width becomes a value of a `type` where it is stored.
#include <core.p4>

type bit<10> vrf_t;
type vrf_t inner_t;
const vrf_t DEFAULT_VRF = 3;

control Numbers(inout vrf_t vrf, inout inner_t inner, inout bit<10> plain) {
    apply {
        vrf = DEFAULT_VRF;
        vrf = 2 + 5;
        vrf_t own = 4;
        if (vrf == own) {
            plain = (bit<10>)vrf;
        }
        inner = (inner_t)own;
    }
}

control C(inout vrf_t vrf, inout inner_t inner, inout bit<10> plain);
package Top(C c);
Top(Numbers()) main;
