//! Each operator at many widths, on values that are equal, extreme or random.

use super::{native, support, switch};
use engine::{Packet, Switch};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::fmt::Write;
use units::Instant;

/// Around the ends of octets and of words of 64 bits.
const WIDTHS: [u32; 18] = [
    1, 3, 8, 9, 31, 32, 33, 48, 57, 63, 64, 65, 96, 128, 130, 192, 320, 1000,
];

/// Packets per width.
const PACKETS: usize = 300;

/// Operations on `a` and `b`, of a width, and the distance `s`. With each is the width of its result.
fn operations(width: u32) -> Vec<(String, u32)> {
    let mut operations = Vec::new();
    let signed = |of: &str| format!("(int<{width}>)h.i.{of}");
    for operator in ["+", "-", "*", "|+|", "|-|"] {
        operations.push((format!("h.i.a {operator} h.i.b"), width));
        let value = format!("{} {operator} {}", signed("a"), signed("b"));
        operations.push((format!("(bit<{width}>)({value})"), width));
    }
    for operator in ["&", "|", "^"] {
        operations.push((format!("h.i.a {operator} h.i.b"), width));
    }
    for operator in ["~", "-"] {
        operations.push((format!("{operator}h.i.a"), width));
    }
    for operator in ["<<", ">>"] {
        for by in ["h.i.s", "5", "64", "100"] {
            operations.push((format!("h.i.a {operator} {by}"), width));
        }
        let value = format!("{} {operator} h.i.s", signed("a"));
        operations.push((format!("(bit<{width}>)({value})"), width));
    }
    for operator in ["==", "!=", "<", "<=", ">", ">="] {
        operations.push((format!("(bit<1>)(h.i.a {operator} h.i.b)"), 1));
        let value = format!("{} {operator} {}", signed("a"), signed("b"));
        operations.push((format!("(bit<1>)({value})"), 1));
    }
    let top = width - 1;
    let middle = width / 2;
    operations.push((format!("h.i.a[{top}:{middle}]"), width - middle));
    operations.push((format!("h.i.a[{middle}:0]"), middle + 1));
    operations.push(("h.i.a ++ h.i.b".into(), 2 * width));
    operations.push(("h.i.s ++ h.i.a".into(), width + 16));
    let longer = format!("(bit<{}>)({})", width + 70, "h.i.a");
    operations.push((longer, width + 70));
    let extended = format!("(bit<{0}>)(int<{0}>)(int<{width}>)h.i.a", width + 70);
    operations.push((extended, width + 70));
    operations.push(("(h.i.a < h.i.b ? h.i.a : h.i.b)".into(), width));
    operations
}

/// Statements of control flow and partial writes, each of which leaves a value of some bits in `r`.
fn statements(width: u32) -> Vec<(String, u32)> {
    let top = width - 1;
    let half = width / 2;
    let mut statements = vec![
        (
            format!("R = h.i.a; R[{top}:{half}] = h.i.b[{}:0];", top - half),
            width,
        ),
        (format!("R = h.i.a; R[{half}:0] = h.i.b[{half}:0];"), width),
        (
            "R = h.i.a; if (h.i.s[0:0] == 1) { R = h.i.b; } else { R = R + 1; }".into(),
            width,
        ),
    ];
    for comparison in ["==", "!=", "<", "<=", ">", ">="] {
        let then = format!("R = 0; if (h.i.a {comparison} h.i.b) {{ R = h.i.a; }}");
        statements.push((then, width));
    }
    statements
}

/// A program that does all of them.
fn program(width: u32) -> String {
    let mut fields = String::new();
    let mut body = String::new();
    let mut bits = 0;
    for (i, (operation, width)) in operations(width).into_iter().enumerate() {
        let _ = writeln!(fields, "bit<{width}> e{i};");
        let _ = writeln!(body, "h.o.e{i} = {operation};");
        bits += width;
    }
    for (i, (statement, width)) in statements(width).into_iter().enumerate() {
        let _ = writeln!(fields, "bit<{width}> f{i};");
        let _ = writeln!(body, "{}", statement.replace('R', &format!("h.o.f{i}")));
        bits += width;
    }
    let (rest, rest_in) = (8 - bits % 8, 8 - 2 * width % 8);
    format!(
        "#include <core.p4>\n#include <v1model.p4>\n\
         header i_t {{ bit<{width}> a; bit<{width}> b; bit<16> s; bit<{rest_in}> rest; }}\n\
         header o_t {{ {fields} bit<{rest}> rest; }}\n\
         struct H {{ i_t i; o_t o; }} struct M {{ }}\n\
         parser P(packet_in p, out H h, inout M m, inout standard_metadata_t s) \
         {{ state start {{ p.extract(h.i); transition accept; }} }}\n\
         control V(inout H h, inout M m) {{ apply {{}} }}\n\
         control I(inout H h, inout M m, inout standard_metadata_t s) {{\n\
         apply {{ s.egress_spec = 1; h.o.setValid(); {body} }} }}\n\
         control E(inout H h, inout M m, inout standard_metadata_t s) {{ apply {{}} }}\n\
         control D(packet_out p, in H h) {{ apply {{ p.emit(h.o); }} }}\n\
         V1Switch(P(), V(), I(), E(), V(), D()) main;"
    )
}

/// The octets of the header with two values and a distance.
fn packet(random: &mut ChaCha8Rng, width: u32) -> Vec<u8> {
    let mut value = || -> Vec<bool> {
        let kind = random.next_u32() % 6;
        let one = random.next_u32() % width;
        let bit = |at| match kind {
            0 => false,
            1 => true,
            2 => at == one,
            3 => at != one,
            _ => random.next_u32().is_multiple_of(2),
        };
        (0..width).map(bit).collect()
    };
    let a = value();
    let mut b = value();
    let (how, by) = (random.next_u32() % 4, random.next_u32());
    if how == 0 {
        b.clone_from(&a);
    }
    let by = match how {
        1 => by % 65_536,
        2 => 64 * (by % 6),
        _ => by % (width + 2),
    };
    let mut bits = [a, b].concat();
    bits.extend((0..16).rev().map(|at| by >> at & 1 == 1));
    bits.resize(bits.len().next_multiple_of(8) + 8, false);
    let octet = |bits: &[bool]| {
        bits.iter()
            .fold(0, |octet, &bit| octet << 1 | u8::from(bit))
    };
    bits.chunks(8).map(octet).collect()
}

fn send(switch: &mut Switch, octets: &[u8]) -> Vec<u8> {
    switch.handle_packet(Instant::ZERO, 0, Packet::new(octets.to_vec()));
    let sent = switch.poll_transmit(Instant::ZERO);
    sent.expect("the packet leaves").packet.octets.into()
}

#[test]
fn operators_have_the_same_results() {
    for width in WIDTHS {
        let text = program(width);
        let program = support::compile_text("operators.p4", &text, &[]);
        let program = program.unwrap_or_else(|why| panic!("{text}\n{why}"));
        let pipeline = native(&program).expect("the engine takes it");
        let [mut compiled, mut interpreted] =
            [false, true].map(|interpreted| switch(&pipeline, interpreted));
        let mut random = ChaCha8Rng::seed_from_u64(width.into());
        for _ in 0..PACKETS {
            let octets = packet(&mut random, width);
            assert_eq!(
                send(&mut compiled, &octets),
                send(&mut interpreted, &octets),
                "{octets:02x?} of width {width}\n{text}"
            );
        }
    }
}
