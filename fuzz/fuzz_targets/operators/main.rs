//! Expressions of every operator at widths from 1 to 2048 bits mean what integers of any size say.
//!
//! The input is the random source of a program: a few header fields, and expressions of them. Each expression is
//! computed three times: when a packet comes; with constants for all fields, by the compiler; with constants for some of
//! them. The first is done by compiled code and by the interpreter. The judge is `expr.rs`, which has nothing in common with the engine or the compiler but the type of integers.
#![no_main]

mod expr;
mod grow;
#[path = "../program/mod.rs"]
mod program;

use expr::{Node, Ty};
use grow::Statement;
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::{Corpus, fuzz_target};
use num_bigint::{BigInt, BigUint};
use program::Source;

fuzz_target!(|input: &[u8]| -> Corpus {
    match run(&mut Unstructured::new(input)) {
        Ok(()) => Corpus::Keep,
        Err(_) => Corpus::Reject,
    }
});

/// Where the fields of an expression come from.
#[derive(Clone, Copy)]
enum From {
    Packet,
    Constants,
    /// The fields whose bit is set are constants.
    Some(u8),
}

fn run(random: &mut Unstructured<'_>) -> Result<()> {
    let mut widths = Vec::new();
    let mut values = Vec::new();
    for _ in 0..random.int_in_range(1..=4)? {
        let width = grow::width(random)?;
        widths.push(width);
        values.push(grow::value(random, width)?);
    }
    let mut results = Vec::new();
    for _ in 0..random.int_in_range(1..=8)? {
        let statement = grow::statement(random, &widths)?;
        let Some(value) = statement.value(&values) else {
            continue;
        };
        let mixed = From::Some(random.arbitrary()?);
        let origins = match statement.is_constant() {
            true => vec![From::Constants],
            false => vec![From::Packet, From::Constants, mixed],
        };
        for from in origins {
            results.push((statement.clone(), from, value.clone()));
        }
    }
    judge(&widths, &values, &results);
    Ok(())
}

/// Compiles all statements to one program, sends it the values, and compares what comes back.
fn judge(widths: &[u32], values: &[BigInt], results: &[(Statement, From, BigUint)]) {
    let mut source = Source {
        headers: "    in_t i;\n    out_t o;\n".into(),
        parser: "        packet.extract(hdr.i);\n".into(),
        deparser: "        packet.emit(hdr.o);\n".into(),
        ..Source::default()
    };
    let fields = widths.iter().copied().enumerate();
    let fields = fields.map(|(i, width)| (format!("f{i}"), width));
    source.declarations += &header("in_t", fields);
    let outcomes = results.iter().map(|(s, ..)| s.width()).enumerate();
    let outcomes = outcomes.map(|(i, width)| (format!("r{i}"), width));
    source.declarations += &header("out_t", outcomes);
    for (i, (width, value)) in widths.iter().zip(values).enumerate() {
        source.declarations += &format!("const bit<{width}> C{i} = {width}w{value};\n");
    }
    for (i, (statement, from, _)) in results.iter().enumerate() {
        let leaf = |field: usize| match from {
            From::Constants => format!("C{field}"),
            From::Some(which) if which >> (field % 8) & 1 == 1 => format!("C{field}"),
            _ => format!("hdr.i.f{field}"),
        };
        // What is known must be known to the compiler.
        if let (From::Constants, Statement::Assign(node)) = (from, statement) {
            let width = statement.width();
            let text = node.as_bits(&leaf);
            source.declarations += &format!("const bit<{width}> R{i} = {text};\n");
            source.ingress += &format!("        hdr.o.r{i} = R{i};\n");
        } else {
            source.ingress += &statement.text(&format!("hdr.o.r{i}"), &leaf);
        }
    }
    source.ingress += "        hdr.o.setValid();\n";
    let packet = octets(widths.iter().copied().zip(values.iter().map(unsigned)));
    let expected = results
        .iter()
        .map(|(s, _, value)| (s.width(), value.clone()));
    let expected = octets(expected);
    for mut switch in program::switches(&source.pipeline()) {
        let sent = program::send(&mut switch, packet.clone()).expect("the packet leaves");
        compare(&sent, &expected, values, results, &source);
    }
}

/// Names the first result that differs.
fn compare(
    sent: &[u8],
    expected: &[u8],
    values: &[BigInt],
    results: &[(Statement, From, BigUint)],
    source: &Source,
) {
    if sent != expected {
        let mut end = 0;
        for (i, (statement, _, value)) in results.iter().enumerate() {
            let begin = end;
            end += statement.width() as usize;
            let found = bits(sent, begin, end);
            assert_eq!(
                found,
                *value,
                "r{i} of\n{}\nwith {values:x?}",
                source.text()
            );
        }
    }
    assert_eq!(sent, expected, "{}", source.text());
}

/// A header of fields that fill whole octets.
fn header(name: &str, fields: impl Iterator<Item = (String, u32)>) -> String {
    let mut text = format!("header {name} {{\n");
    let mut bits = 0;
    for (name, width) in fields {
        text += &format!("    bit<{width}> {name};\n");
        bits += width;
    }
    if !bits.is_multiple_of(8) {
        text += &format!("    bit<{}> rest;\n", 8 - bits % 8);
    }
    text + "}\n"
}

/// Values one behind another, the last octet filled up with zeros.
fn octets(values: impl Iterator<Item = (u32, BigUint)>) -> Vec<u8> {
    let mut all = BigUint::ZERO;
    let mut bits = 0;
    for (width, value) in values {
        all = (all << width) | value;
        bits += width;
    }
    let rest = (8 - bits % 8) % 8;
    let octets = (all << rest).to_bytes_be();
    let length = (bits + rest) as usize / 8;
    let mut padded = vec![0; length.saturating_sub(octets.len())];
    padded.extend(octets);
    padded.truncate(length);
    padded
}

/// Bits `begin..end` of octets, counted from the first.
fn bits(octets: &[u8], begin: usize, end: usize) -> BigUint {
    let all = BigUint::from_bytes_be(octets) >> (octets.len() * 8).saturating_sub(end);
    all & ((BigUint::from(1u8) << (end - begin)) - 1u8)
}

/// A value of a field as its bits.
fn unsigned(value: &BigInt) -> BigUint {
    value.to_biguint().expect("fields are unsigned")
}

/// The bits of a value of this type.
fn as_bits(node: &Node, value: BigInt) -> BigUint {
    let width = match node.ty {
        Ty::Bit(width) | Ty::Int(width) => width,
        Ty::Bool => 1,
        Ty::Infinite => unreachable!("results have a width"),
    };
    unsigned(&expr::wrap(value, Ty::Bit(width)))
}
