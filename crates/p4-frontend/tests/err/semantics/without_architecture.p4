// No architecture is included.
header h_t { bit<8> a; }
struct headers_t { h_t h; }
control I(inout headers_t hdr, inout standard_metadata_t standard) {
    apply { }
}
control E(inout headers_t hdr, in psa_egress_input_metadata_t input) {
    apply { }
}
parser P(packet_in packet, out headers_t hdr, out ingress_intrinsic_metadata_t intrinsic) {
    state start { transition accept; }
}
