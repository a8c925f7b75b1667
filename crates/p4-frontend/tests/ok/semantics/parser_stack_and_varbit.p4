#include "included/arch.p4"
error { TooDeep }
header label_h { bit<20> label; bit<3> class; bit<1> bottom; bit<8> ttl; }
header options_h { bit<8> size; varbit<64> octets; }
struct headers_t { label_h[3] labels; options_h options; }

parser Labels(packet_in packet, out headers_t hdr, inout intrinsic_t intrinsic) {
    bit<8> seen = 0;
    state start {
        packet.extract(hdr.labels.next);
        seen = seen + 1;
        verify(seen < 3, error.TooDeep);
        transition select(hdr.labels.last.bottom, packet.lookahead<bit<4>>()) {
            (0, _): start;
            (1, 1 .. 7): options;
            (1, 8 &&& 0b1000): skip;
            default: accept;
        }
    }
    state options {
        packet.extract(hdr.options, (bit<32>)(packet.lookahead<bit<8>>()) << 3);
        transition accept;
    }
    state skip { packet.advance(32); transition reject; }
}
control Rotate(inout headers_t hdr, inout intrinsic_t intrinsic) {
    apply {
        hdr.labels.push_front(1);
        hdr.labels[0] = { 5, 0, 0, 64 };
        hdr.labels[(bit<2>)intrinsic.port[1:0]].ttl = 3;
        hdr.labels.pop_front(1);
    }
}
control Put(packet_out packet, in headers_t hdr) {
    apply { packet.emit(hdr.labels); packet.emit(hdr.options); }
}
Device(Labels(), Rotate(), Put()) main;
