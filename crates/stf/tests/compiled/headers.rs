//! Headers with fields of more than 64 bits.

use super::{answer, native, support, switch};
use num_bigint::BigUint;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Widths of a header's fields, so that some begin within an octet and some end within one.
const WIDTHS: [&[u32]; 4] = [
    &[4, 8, 20, 16, 8, 8, 128, 128],
    &[4, 28, 128, 100, 65, 59],
    &[3, 129, 70, 6],
    &[72],
];

/// A program that puts the sum of a header's fields, each cut to 64 bits and its upper bits, behind the header, and adds 1
/// to the last field.
fn program(widths: &[u32]) -> String {
    let (mut fields, mut sums) = (String::new(), String::new());
    for (number, width) in widths.iter().enumerate() {
        fields += &format!("bit<{width}> f{number}; ");
        sums += &format!("h.sum.low = h.sum.low + (bit<64>)h.h.f{number}; ");
        if *width > 64 {
            sums += &format!(
                "h.sum.high = h.sum.high + (bit<64>)h.h.f{number}[{}:64]; ",
                width - 1
            );
        }
    }
    let last = widths.len() - 1;
    format!(
        "#include <core.p4>
        #include <v1model.p4>
        header h_t {{ {fields} }}
        header sum_t {{ bit<64> low; bit<64> high; }}
        struct headers {{ h_t h; sum_t sum; }}
        struct metadata {{}}
        parser P(packet_in p, out headers h, inout metadata m, inout standard_metadata_t s) {{
            state start {{ p.extract(h.h); transition accept; }}
        }}
        control V(inout headers h, inout metadata m) {{ apply {{}} }}
        control I(inout headers h, inout metadata m, inout standard_metadata_t s) {{ apply {{
            s.egress_spec = 1; h.sum.setValid(); h.sum.low = 0; h.sum.high = 0; {sums}
            h.h.f{last} = h.h.f{last} + 1;
        }} }}
        control E(inout headers h, inout metadata m, inout standard_metadata_t s) {{ apply {{}} }}
        control C(inout headers h, inout metadata m) {{ apply {{}} }}
        control D(packet_out p, in headers h) {{ apply {{ p.emit(h); }} }}
        V1Switch(P(), V(), I(), E(), C(), D()) main;"
    )
}

/// What the program sends for a packet.
fn expected(widths: &[u32], octets: &[u8]) -> Vec<u8> {
    let bits: u32 = widths.iter().sum();
    let (header, payload) = octets.split_at(bits as usize / 8);
    let header = BigUint::from_bytes_be(header);
    let (mut left, mut low, mut high) = (bits, 0u64, 0u64);
    for &width in widths {
        left -= width;
        let field = (&header >> left) % (BigUint::from(1u8) << width);
        let mut words = field.iter_u64_digits();
        low = low.wrapping_add(words.next().unwrap_or(0));
        high = high.wrapping_add(words.next().unwrap_or(0));
    }
    let modulus = BigUint::from(1u8) << widths[widths.len() - 1];
    let last = &header % &modulus;
    let header = &header - &last + (&last + 1u8) % &modulus;
    let written = header.to_bytes_be();
    let mut out = vec![0; bits as usize / 8 - written.len()];
    out.extend(written);
    out.extend([low.to_be_bytes(), high.to_be_bytes()].concat());
    out.extend(payload);
    out
}

#[test]
fn wide_fields_are_read_and_written_whole() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for widths in WIDTHS {
        let program = support::compile_text("headers.p4", &program(widths), &[]);
        let pipeline = native(&program.expect("the program compiles")).expect("it can be run");
        let mut pair = [false, true].map(|how| switch(&pipeline, how));
        let header = widths.iter().sum::<u32>() as usize / 8;
        for round in 0..500 {
            let payload = (random.next_u64() % 20) as usize;
            let mut octets: Vec<_> = (0..header + payload)
                .map(|_| random.next_u64() as u8)
                .collect();
            if round % 8 == 0 {
                octets[..header].fill(0xff);
            }
            let expected = expected(widths, &octets);
            for switch in &mut pair {
                assert_eq!(
                    answer(switch, &octets),
                    expected,
                    "{widths:?} {octets:02x?}"
                );
            }
        }
    }
}
