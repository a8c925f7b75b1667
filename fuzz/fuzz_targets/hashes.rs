//! Hashes and checksums give what bit by bit models say, for fields of any widths, with and without the payload.
//!
//! The input is the random source of a program's fields, of what it computes of them, and of a packet.
#![no_main]

mod program;

use engine::{CrcParameters, CrcWidth, Switch, SwitchConfig};
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::{Corpus, fuzz_target};
use program::Source;

type Random<'r, 'a> = &'r mut Unstructured<'a>;

/// Bits, the most significant first.
type Bits = Vec<bool>;

const ALGORITHMS: [&str; 7] = [
    "crc32",
    "crc32_custom",
    "crc16",
    "crc16_custom",
    "identity",
    "csum16",
    "xor16",
];

/// A field of the packet's header.
struct Field {
    bits: Bits,
    /// Whether its width is found when the packet comes. There is one such field at most, the last.
    varbit: bool,
}

/// How a program uses an algorithm.
#[derive(Clone, Copy)]
enum Use {
    /// `hash` with a base and a maximum.
    Hash { base: u64, max: u64 },
    /// `update_checksum`, with the payload if so.
    Update(bool),
    /// `verify_checksum` of a sum that differs in these bits, with the payload if so.
    Verify(bool, u32),
}

fuzz_target!(|input: &[u8]| -> Corpus {
    match run(&mut Unstructured::new(input)) {
        Ok(()) => Corpus::Keep,
        Err(_) => Corpus::Reject,
    }
});

fn run(random: Random<'_, '_>) -> Result<()> {
    let algorithm = *random.choose(&ALGORITHMS)?;
    let mut parameters = standard(algorithm);
    let custom = algorithm.ends_with("custom");
    if custom && random.ratio(3, 4)? {
        let mask = u32::MAX >> (32 - width(algorithm).min(32));
        parameters = CrcParameters {
            polynomial: random.arbitrary::<u32>()? & mask,
            initial: random.arbitrary::<u32>()? & mask,
            final_xor: random.arbitrary::<u32>()? & mask,
            reflect_data: random.arbitrary()?,
            reflect_remainder: random.arbitrary()?,
        };
    }
    let fields = fields(random)?;
    let with_payload = random.arbitrary()?;
    let how = match random.int_in_range(0..=3)? {
        0 => Use::Update(with_payload),
        1 => {
            let wrong = random.arbitrary::<bool>()?;
            let differs = if wrong {
                1 << random.int_in_range(0..=15)?
            } else {
                0
            };
            Use::Verify(with_payload, differs)
        }
        _ => Use::Hash {
            base: random.arbitrary()?,
            max: match random.int_in_range(0..=2)? {
                0 => random.arbitrary()?,
                1 => 1 << random.int_in_range(0..=63)?,
                _ => random.int_in_range(0..=300)?,
            },
        },
    };
    // The second header is invalid in half of the packets.
    let split = random.int_in_range(0..=fields.len())?;
    let second = random.arbitrary()?;
    let payload = random.bytes(random.len().min(300))?;

    let mut bits = Bits::new();
    for field in fields
        .iter()
        .take(if second { fields.len() } else { split })
    {
        bits.extend(&field.bits);
    }
    let mut octets = octets(&bits);
    if matches!(how, Use::Update(true) | Use::Verify(true, _)) {
        octets.extend(payload);
    }
    let hash = model(algorithm, &parameters, &octets);
    let (result, packet_sum) = match how {
        Use::Hash { base, max } => (base.wrapping_add(hash.checked_rem(max).unwrap_or(0)), 0),
        Use::Update(_) => (hash, 0),
        // The result says whether the checksum is wrong.
        Use::Verify(_, differs) => (u64::from(differs != 0), hash ^ u64::from(differs)),
    };
    let source = source(&fields, split, algorithm, how);
    let mut switch = Switch::with_pipeline(source.pipeline(), SwitchConfig::default());
    if custom {
        let wide = if algorithm == "crc16_custom" {
            CrcWidth::W16
        } else {
            CrcWidth::W32
        };
        let set = switch.set_crc_parameters("calc", wide, parameters);
        set.expect("the calculation is there");
    }
    let packet = packet(&fields, split, second, packet_sum, payload);
    let sent = program::send(&mut switch, packet.clone()).expect("the packet leaves");
    let mut expected = result.to_be_bytes().to_vec();
    expected.extend(payload);
    assert_eq!(
        sent,
        expected,
        "{algorithm} with {parameters:x?} of {octets:02x?}\npacket {packet:02x?}\n{}",
        source.text()
    );
    Ok(())
}

/// One to six fields of up to 200 bits, whole octets in each header.
fn fields(random: Random<'_, '_>) -> Result<Vec<Field>> {
    let mut fields = Vec::new();
    for _ in 0..random.int_in_range(1..=6)? {
        let width = match random.int_in_range(0..=2)? {
            0 => 8 * random.int_in_range(1..=20)?,
            1 => random.int_in_range(1..=70)?,
            _ => random.int_in_range(1..=200)?,
        };
        fields.push(Field {
            bits: bits(random, width)?,
            varbit: false,
        });
    }
    if random.ratio(1, 4)? {
        let octets: usize = random.int_in_range(0..=40)?;
        fields.push(Field {
            bits: bits(random, 8 * octets)?,
            varbit: true,
        });
    }
    Ok(fields)
}

fn bits(random: Random<'_, '_>, width: usize) -> Result<Bits> {
    let octets = random.bytes(width.div_ceil(8).min(random.len()))?;
    let mut bits = Bits::new();
    for octet in octets {
        bits.extend((0..8).rev().map(|at| octet >> at & 1 == 1));
    }
    bits.resize(width, false);
    Ok(bits)
}

/// Bits as octets, the last filled up with zeros.
fn octets(bits: &[bool]) -> Vec<u8> {
    let octet = |bits: &[bool]| {
        (0..8).fold(0, |octet, at| {
            octet << 1 | u8::from(bits.get(at) == Some(&true))
        })
    };
    bits.chunks(8).map(octet).collect()
}

/// How many bits fill up the octets of some fields.
fn rest(fields: &[Field]) -> usize {
    let bits: usize = fields.iter().map(|field| field.bits.len()).sum();
    bits.wrapping_neg() % 8
}

fn source(fields: &[Field], split: usize, algorithm: &str, how: Use) -> Source {
    let (first, second) = fields.split_at(split);
    let header = |name: &str, fields: &[Field], offset: usize| {
        let mut text = format!("header {name} {{\n");
        for (i, field) in (offset..).zip(fields) {
            text += &match field.varbit {
                true => format!("    varbit<320> f{i};\n"),
                false => format!("    bit<{}> f{i};\n", field.bits.len()),
            };
        }
        let rest = rest(fields);
        if rest > 0 {
            text += &format!("    bit<{rest}> rest;\n");
        }
        text + "}\n"
    };
    let extract = |name: &str, fields: &[Field]| match fields.iter().any(|field| field.varbit) {
        true => format!("packet.extract(hdr.{name}, (bit<32>) hdr.h.octets * 8);"),
        false => format!("packet.extract(hdr.{name});"),
    };
    let names: Vec<_> = (0..fields.len())
        .map(|i| format!("hdr.{}.f{i}", if i < split { "a" } else { "b" }))
        .collect();
    let data = format!("{{ {} }}", names.join(", "));
    let mut source = Source {
        declarations:
            "header head_t {\n    bit<8> second;\n    bit<8> octets;\n    bit<64> sum;\n}\n\
                       header out_t {\n    bit<64> result;\n}\n"
                .into(),
        headers: "    head_t h;\n    a_t a;\n    b_t b;\n    out_t o;\n".into(),
        deparser: "        packet.emit(hdr.o);\n".into(),
        ..Source::default()
    };
    source.declarations += &header("a_t", first, 0);
    source.declarations += &header("b_t", second, split);
    source.parser = format!(
        "        packet.extract(hdr.h);
        {}
        transition select(hdr.h.second) {{
            1: with_second;
            default: accept;
        }}
    }}
    state with_second {{
        {}
",
        extract("a", first),
        extract("b", second)
    );
    let sized = format!("bit<{}>", width(algorithm));
    let tail = match how {
        Use::Update(true) | Use::Verify(true, _) => "_with_payload",
        _ => "",
    };
    source.ingress = "        hdr.o.setValid();\n        hdr.o.result = 0;\n".into();
    match how {
        Use::Hash { base, max } => {
            source.ingress += &format!(
                "        hash(hdr.o.result, HashAlgorithm.{algorithm}, 64w{base}, {data}, 64w{max});\n"
            );
        }
        Use::Update(_) => {
            source.compute = format!(
                "        update_checksum{tail}(true, {data}, hdr.o.result, HashAlgorithm.{algorithm});\n"
            );
        }
        Use::Verify(..) => {
            source.verify = format!(
                "        verify_checksum{tail}(true, {data}, ({sized}) hdr.h.sum, HashAlgorithm.{algorithm});\n"
            );
            source.ingress += "        hdr.o.result = (bit<64>) sm.checksum_error;\n";
        }
    }
    source
}

fn packet(fields: &[Field], split: usize, second: bool, sum: u64, payload: &[u8]) -> Vec<u8> {
    let varbit = fields.iter().find(|field| field.varbit);
    let varbit = varbit.map_or(0, |field| field.bits.len() / 8);
    let mut packet = vec![u8::from(second), varbit as u8];
    packet.extend(sum.to_be_bytes());
    let (first, rest_of) = fields.split_at(split);
    for fields in [first, if second { rest_of } else { &[] }] {
        let mut bits = Bits::new();
        let (last, others) = match fields.split_last() {
            Some((last, others)) if last.varbit => (&last.bits[..], others),
            _ => (&[][..], fields),
        };
        others.iter().for_each(|field| bits.extend(&field.bits));
        // What fills up the octets stands behind the varbit.
        bits.extend(last);
        bits.resize(bits.len() + rest(fields), true);
        packet.extend(octets(&bits));
    }
    packet.extend(payload);
    packet
}

/// Bits of an algorithm's result.
fn width(algorithm: &str) -> u32 {
    match algorithm {
        "identity" => 64,
        _ if algorithm.starts_with("crc32") => 32,
        _ => 16,
    }
}

/// The parameters of CRC-16/ARC or CRC-32/ISO-HDLC.
fn standard(algorithm: &str) -> CrcParameters {
    let wide = algorithm.starts_with("crc32");
    CrcParameters {
        polynomial: if wide { 0x04c1_1db7 } else { 0x8005 },
        initial: if wide { u32::MAX } else { 0 },
        final_xor: if wide { u32::MAX } else { 0 },
        reflect_data: true,
        reflect_remainder: true,
    }
}

/// What an algorithm gives, a bit or an octet at a time.
fn model(algorithm: &str, parameters: &CrcParameters, octets: &[u8]) -> u64 {
    match algorithm {
        "identity" => octets
            .iter()
            .take(8)
            .fold(0, |number, &octet| number << 8 | u64::from(octet)),
        "xor16" => words(octets).fold(0, |all, word| all ^ word).into(),
        "csum16" => {
            // RFC 1071, with the carry brought in after each word.
            let add = |sum: u32, word: u16| {
                let sum = sum + u32::from(word);
                sum % 0x10000 + sum / 0x10000
            };
            u64::from(0xffff - words(octets).fold(0, add))
        }
        _ => crc(width(algorithm), parameters, octets),
    }
}

/// Words of 16 bits, the last filled up with zeros.
fn words(octets: &[u8]) -> impl Iterator<Item = u16> {
    let word = |pair: &[u8]| u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]);
    octets.chunks(2).map(word)
}

/// A CRC as long division, one bit after another.
fn crc(width: u32, parameters: &CrcParameters, octets: &[u8]) -> u64 {
    let top = 1u64 << (width - 1);
    let mut remainder = u64::from(parameters.initial);
    for octet in octets {
        for at in 0..8 {
            let at = if parameters.reflect_data { at } else { 7 - at };
            let bit = octet >> at & 1 == 1;
            let divides = (remainder & top != 0) != bit;
            remainder = (remainder << 1) % (2 * top);
            if divides {
                remainder ^= u64::from(parameters.polynomial);
            }
        }
    }
    if parameters.reflect_remainder {
        let bits = (0..width).map(|at| (remainder >> at & 1) << (width - 1 - at));
        remainder = bits.sum();
    }
    remainder ^ u64::from(parameters.final_xor)
}
