// Ingress writes a register that egress reads.
#include "shell/before.p4"

Register<bit<32>, bit<8>>(256) cells; //! register-gress

control Work(inout headers_t hdr, inout metadata_t md) {
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) add = {
        void apply(inout bit<32> cell, out bit<32> result) { cell = cell + hdr.v.a; result = cell; }
    };
    apply { md.x = add.execute(hdr.v.f); }
}

control OwnEgress(
    inout headers_t hdr, inout metadata_t md, in egress_intrinsic_metadata_t intrinsic,
    in egress_intrinsic_metadata_from_parser_t from_parser,
    inout egress_intrinsic_metadata_for_deparser_t for_deparser,
    inout egress_intrinsic_metadata_for_output_port_t for_port)
{
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) read = {
        void apply(inout bit<32> cell, out bit<32> result) { result = cell; }
    };
    apply { hdr.v.b = read.execute(hdr.v.f); }
}

#define EGRESS OwnEgress
#include "shell/after.p4"
