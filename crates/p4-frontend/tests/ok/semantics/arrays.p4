#include "included/arch.p4"
struct pair_t { bit<8> low; bool high; }
header h { bit<8> i; bit<4>[2] nibbles; }
struct headers_t { h one; h[2] stack; bit<8>[2][3] grid; pair_t[2] pairs; }
const bit<8>[3] KNOWN = { 7, 8, 9 };

parser Start(packet_in packet, out headers_t hdr, inout intrinsic_t intrinsic) {
    state start { packet.extract(hdr.one); transition accept; }
}
control Use(inout headers_t hdr, inout intrinsic_t intrinsic) {
    bit<8>[2] row = { 1, ... };
    apply {
        hdr.one.i = KNOWN[2] + KNOWN[row.size];
        hdr.grid[1][1] = KNOWN[hdr.one.i];
        hdr.grid[hdr.one.i][row[0]] = 3;
        hdr.grid[2] = row;
        hdr.pairs[hdr.one.i].high = row == { 1, 2 };
        hdr.stack[1].nibbles[hdr.one.i] = hdr.one.nibbles[0];
        for (pair_t pair in hdr.pairs) { row[1] = row[1] + pair.low; }
    }
}
control End(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.one); packet.emit(hdr.stack); } }
Device(Start(), Use(), End()) main;
