//! Hashes of lists of values.

use super::{answer, native, support, switch};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Arguments of a hash: its width, algorithm, base, list and maximum.
const HASHES: [(u32, &str, &str, &str, &str); 22] = [
    // The 5-tuple of a flow.
    (
        14,
        "crc16",
        "14w0",
        "h.a.a, h.a.b, h.a.c, h.a.d, h.a.e",
        "32w5",
    ),
    (
        32,
        "crc32",
        "32w0",
        "h.a.a, h.a.b, h.a.c, h.a.d, h.a.e",
        "64w0x100000000",
    ),
    (
        16,
        "crc16",
        "16w0",
        "h.a.a, h.a.b, h.a.c, h.a.d, h.a.e",
        "32w0x10000",
    ),
    // Each number of octets up to two chunks.
    (32, "crc32", "32w7", "h.a.e", "32w0x8000"),
    (32, "crc32", "32w7", "h.a.c", "32w1000"),
    (32, "crc32", "32w7", "h.a.e, h.a.c", "32w1000"),
    (32, "crc16", "32w7", "h.a.b, h.a.e", "32w1000"),
    (32, "crc16", "32w7", "h.a.b, h.a.c", "32w1000"),
    (32, "crc32", "32w7", "h.b.long", "64w0x100000000"),
    (32, "crc16", "32w7", "h.b.long, h.a.e", "64w0x100000000"),
    // A list whose end is not the end of an octet, values that together are octets, wide values.
    (32, "crc32", "32w0", "h.a.a, h.b.nine", "64w0x100000000"),
    (
        32,
        "crc32",
        "32w0",
        "h.b.nine, h.b.seven, h.a.a",
        "64w0x100000000",
    ),
    (32, "crc32", "32w0", "h.b.wide, h.a.a", "64w0x100000000"),
    (32, "crc16", "32w0", "h.b.odd, h.a.a", "64w0x100000000"),
    // A header that may be invalid, in the middle and at the end.
    (
        32,
        "crc32",
        "32w0",
        "h.a.a, h.b.nine, h.b.seven, h.a.b",
        "64w0x100000000",
    ),
    (32, "crc32", "32w0", "h.a, h.b", "64w0x100000000"),
    // A maximum and a base that are known at run time only, the maximum 0.
    (32, "crc32", "h.a.b", "h.a.a", "h.a.c"),
    (32, "crc32", "32w9", "h.a.a", "32w0"),
    // Maxima of more than 64 bits.
    (32, "crc32", "32w9", "h.a.a", "65w0x10000000000000000"),
    (32, "crc32", "32w9", "h.a.a", "128w1000"),
    // Sums that wrap.
    (8, "crc32", "8w200", "h.a.a", "32w100"),
    (
        48,
        "crc32",
        "48w0xffffffffffff",
        "h.a.a, h.a.b",
        "48w0x1000000",
    ),
];

/// A program that puts a hash in front of the packet's payload.
fn program((width, algorithm, base, list, max): (u32, &str, &str, &str, &str)) -> String {
    format!(
        "#include <core.p4>
        #include <v1model.p4>
        header a_t {{ bit<32> a; bit<32> b; bit<16> c; bit<16> d; bit<8> e; }}
        header b_t {{ bit<64> long; bit<9> nine; bit<7> seven; bit<128> wide; bit<72> odd; }}
        header result_t {{ bit<64> hash; }}
        struct headers {{ a_t a; b_t b; result_t result; }}
        struct metadata {{}}
        parser P(packet_in p, out headers h, inout metadata m, inout standard_metadata_t s) {{
            state start {{
                p.extract(h.a);
                transition select(h.a.e) {{ 0x80 &&& 0x80: more; default: accept; }}
            }}
            state more {{ p.extract(h.b); transition accept; }}
        }}
        control V(inout headers h, inout metadata m) {{ apply {{}} }}
        control I(inout headers h, inout metadata m, inout standard_metadata_t s) {{
            bit<{width}> found;
            apply {{
                s.egress_spec = 1;
                hash(found, HashAlgorithm.{algorithm}, {base}, {{ {list} }}, {max});
                h.result.setValid();
                h.result.hash = (bit<64>)found;
            }}
        }}
        control E(inout headers h, inout metadata m, inout standard_metadata_t s) {{ apply {{}} }}
        control C(inout headers h, inout metadata m) {{ apply {{}} }}
        control D(packet_out p, in headers h) {{ apply {{ p.emit(h); }} }}
        V1Switch(P(), V(), I(), E(), C(), D()) main;"
    )
}

#[test]
fn hashes_are_those_of_the_interpreter() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for hash in HASHES {
        let program = support::compile_text("hashes.p4", &program(hash), &[]);
        let pipeline = native(&program.expect("the program compiles")).expect("it can be run");
        let [mut compiled, mut interpreted] = [false, true].map(|how| switch(&pipeline, how));
        for round in 0..500 {
            let mut octets: Vec<_> = (0..60).map(|_| random.next_u64() as u8).collect();
            if round % 8 == 0 {
                octets[..12].fill(0);
            }
            assert_eq!(
                answer(&mut compiled, &octets),
                answer(&mut interpreted, &octets),
                "{hash:?} {octets:02x?}"
            );
        }
    }
}
