// Arrays of types other than headers have elements and a size, and nothing else that header stacks have.
#include "included/arch.p4"
header h { bit<8> a; }
enum colour_t { red, green }
struct pair_t { bit<8> low; bit<8> high; }
typedef int[2] ints_t;
typedef varbit<8>[2] varbits_t;
typedef packet_in[2] packets_t;
typedef bit<8>[60000][60000] large_t;
typedef bit<8>[0] none_t;
header holds_enums_t { colour_t[2] colours; }
header holds_headers_t { h[2] inner; }
const bit<8>[2] SHORT = { 1 };
const bit<8>[2] LONG = { 1, 2, 3 };
const bit<8>[2] WRONG = { 1, true };
const bit<8>[2] GOOD = { 1, 2 };
const bit<8> BEYOND = GOOD[2];
struct headers_t { h one; h[2] stack; }
struct deep_t { h[65536] stack; }
typedef deep_t[2] many_stacks_t;
void push<T>(inout T[2] of) { of.push_front(1); }
control Use(inout headers_t hdr, inout intrinsic_t intrinsic) {
    bit<8>[2] octets;
    bit<8>[3] longer;
    pair_t[2] pairs;
    action set(bit<8>[2] given) { octets = given; }
    table keyed {
        key = { octets: exact; }
        actions = {}
    }
    apply {
        octets[2] = 0;
        octets[-1] = 0;
        octets[octets] = 0;
        octets.push_front(1);
        octets.pop_front(1);
        octets.next = 0;
        octets.last = 0;
        octets.lastIndex = 0;
        octets.size = 3;
        octets.count = 3;
        octets = longer;
        octets = 0;
        octets = {#};
        octets = octets + octets;
        if (octets == longer) {}
        if (octets < octets) {}
        pairs[0] = octets[0];
        pairs.low = 0;
        GOOD[0] = 1;
        pairs[0].isValid();
        for (bool x in octets) {}
        switch (octets) {}
    }
}
parser Start(packet_in packet, out headers_t hdr, inout intrinsic_t intrinsic) {
    bit<8>[2] octets;
    state start {
        octets.next = 0;
        packet.extract(octets);
        packet.extract(octets[0]);
        transition select(octets) { default: accept; }
    }
}
control End(packet_out packet, in headers_t hdr) {
    bit<8>[2] octets;
    apply { packet.emit(octets); }
}
