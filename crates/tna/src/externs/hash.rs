//! Hashes as computed by the hash matrix: linear functions of the bits of the data, which form one long number, the
//! first value most significant.

use super::{Lowering, give, own};
use num_bigint::BigInt;
use p4_ir::{
    AnnotationValue, Arg, BinaryOp, CtorArg, Expr, ExprKind, ExternCall, ExternObject, Program,
    Scalar,
};
use p4_vm::{CallSite, Crc, ListValue, NONE, Slot, member};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// A call of `get`.
#[derive(Debug)]
pub struct Step {
    function: Function,
    data: Vec<ListValue>,
    to: Slot,
    width: u32,
}

/// The hash function.
#[derive(Debug)]
pub enum Function {
    /// The low bits of the data.
    Identity,
    /// XOR of parts of the given width. The last part is padded with zeros.
    Xor(u32),
    /// A CRC of the given width. A wider result repeats it, or is padded with zeros.
    Crc {
        crc: Box<Crc>,
        width: u32,
        extended: bool,
    },
}

/// Computes a hash.
pub fn step(step: &Step, at: CallSite<'_>) {
    let Step {
        function,
        data,
        to,
        width,
    } = step;
    let octets = at.machine.gather(at.words, data);
    let hash = match function {
        Function::Identity => low(octets),
        Function::Xor(part) => xor(octets, *part),
        Function::Crc {
            crc,
            width: bits,
            extended,
        } => {
            let hash = crc.hash(octets, 0);
            match *extended && width > bits {
                true => repeat(hash, *bits),
                false => hash,
            }
        }
    };
    at.words[*to as usize] = hash & u64::MAX >> (64 - width);
}

/// The last eight octets as a number.
fn low(octets: &[u8]) -> u64 {
    octets
        .iter()
        .fold(0, |number, octet| number << 8 | u64::from(*octet))
}

fn xor(octets: &[u8], bits: u32) -> u64 {
    let size = (bits / 8) as usize;
    let part = |part: &[u8]| {
        let missing = 8 * (size - part.len()) as u32;
        low(part) << missing
    };
    octets.chunks(size).map(part).fold(0, |x, part| x ^ part)
}

/// A number of `bits` bits, repeated.
fn repeat(number: u64, bits: u32) -> u64 {
    let mut all = number;
    let mut done = bits;
    while done < 64 {
        all |= number << done;
        done += bits;
    }
    all
}

/// `Hash.get(data)`.
pub fn get(c: &mut Lowering<'_>, call: &ExternCall, data: &Arg) -> Option<()> {
    let Some(place) = &call.result else {
        return Some(());
    };
    let width = place.ty.width();
    let program = c.program();
    let object = &program[call.object?];
    if width > 64 {
        c.error(format!(
            "a hash of {width} bits is not supported; the widest is 64 bits"
        ));
        return Some(());
    }
    let prepared = symmetric(object, data).and_then(|data| Ok((function(program, object)?, data)));
    let (function, data) = match prepared {
        Ok(prepared) => prepared,
        Err(message) => {
            c.error(message);
            return Some(());
        }
    };
    let mut data = c.data(&data)?;
    // The matrix reads containers, so a field of an invalid header is an ordinary number.
    data.iter_mut().for_each(|value| value.valid = NONE);
    let bits: u32 = data.iter().map(|value| value.width).sum();
    let missing = bits.wrapping_neg() % 8;
    if missing > 0 && !matches!(function, Function::Xor(_)) {
        let slot = c.number(0);
        let zeros = ListValue {
            slot,
            width: missing,
            length: NONE,
            valid: NONE,
        };
        data.insert(0, zeros);
    }
    let to = c.setting();
    own(
        c,
        Step {
            function,
            data,
            to,
            width,
        },
    );
    give(c, call, to, 1)
}

/// The data as seen by the matrix if the hash has `@symmetric("a", "b")`. The driver of Tofino sets both columns of
/// each bit of `a` and `b` to their sum (open-p4studio, `update_symmetric_bits`), so that both count as `a ^ b`.
fn symmetric<'a>(object: &ExternObject, data: &'a Arg) -> Result<Cow<'a, Arg>, String> {
    let annotations = object.annotations.iter();
    let mut pairs = annotations.filter(|a| a.name == "symmetric").peekable();
    if pairs.peek().is_none() {
        return Ok(Cow::Borrowed(data));
    }
    let Arg::List(items) = data else {
        return Err("a hash with @symmetric needs its data as a list, `{a, b, …}`".into());
    };
    let mut summed = items.clone();
    let mut paired = BTreeSet::new();
    for pair in pairs {
        let names = pair.values.iter().filter_map(|value| match value {
            AnnotationValue::String(name) => Some(name.as_str()),
            _ => None,
        });
        let [a, b] = names.collect::<Vec<_>>()[..] else {
            return Err("@symmetric needs two names of fields: @symmetric(\"a\", \"b\")".into());
        };
        let find = |name: &str| {
            let mut found = (0..items.len()).filter(|at| items[*at].name == name);
            found
                .next()
                .filter(|_| found.next().is_none())
                .ok_or_else(|| {
                    let valid: Vec<_> = items.iter().map(|item| item.name.as_str()).collect();
                    let valid = valid.join(", ");
                    format!("@symmetric: `{name}` is not once in the hash's data; they are {valid}")
                })
        };
        let (at_a, at_b) = (find(a)?, find(b)?);
        let (of_a, of_b) = (&items[at_a].value, &items[at_b].value);
        let ty = of_a.ty;
        if ty != of_b.ty || !matches!(ty, Scalar::Bit(_) | Scalar::Int(_)) {
            let told = "must have one type, bit<W> or int<W>";
            return Err(format!("@symmetric: `{a}` and `{b}` {told}"));
        }
        for (at, name) in [(at_a, a), (at_b, b)] {
            if !paired.insert(at) {
                return Err(format!(
                    "@symmetric: `{name}` is in two pairs, or paired with itself"
                ));
            }
        }
        let (left, right) = (Box::new(of_a.clone()), Box::new(of_b.clone()));
        let kind = ExprKind::Binary(BinaryOp::BitXor, left, right);
        for at in [at_a, at_b] {
            summed[at].value = Expr {
                kind: kind.clone(),
                ty,
            };
        }
    }
    Ok(Cow::Owned(Arg::List(summed)))
}

/// The function of a hash object. An error states what its constructor requires.
pub fn function(program: &Program, object: &ExternObject) -> Result<Function, String> {
    let name = member(program, "HashAlgorithm_t", object.args.first());
    let crc = |width: u32, polynomial: u64, initial: u64, xor: u64, reversed: bool| {
        let reflect = (reversed, reversed);
        let crc = Box::new(Crc::new(width, polynomial, initial, xor, reflect));
        Ok(Function::Crc {
            crc,
            width,
            extended: true,
        })
    };
    match name.as_deref() {
        Some("IDENTITY") => Ok(Function::Identity),
        Some("XOR8") => Ok(Function::Xor(8)),
        Some("XOR16") => Ok(Function::Xor(16)),
        Some("XOR32") => Ok(Function::Xor(32)),
        Some("CRC8") => crc(8, 0x07, 0, 0, false),
        Some("CRC16") => crc(16, 0x8005, 0, 0, true),
        Some("CRC32") => crc(32, 0x04c1_1db7, 0xffff_ffff, 0xffff_ffff, true),
        Some("CRC64") => crc(64, 0x42f0_e1eb_a9ea_3693, 0, 0, false),
        // The compiler generates a random matrix. This one is used for all programs.
        Some("RANDOM") => crc(64, 0xad93_d235_94c9_35a9, u64::MAX, 0, true),
        Some("CUSTOM") => match object.args.get(1) {
            Some(CtorArg::Object(polynomial)) => custom(program, &program[*polynomial]),
            _ => Err("a hash with HashAlgorithm_t.CUSTOM needs a CRCPolynomial".into()),
        },
        _ => Err("a hash needs a constant member of HashAlgorithm_t".into()),
    }
}

/// The CRC of a `CRCPolynomial(coeff, reversed, msb, extended, init, xor)`. `msb` has no effect, as in hardware.
fn custom(program: &Program, polynomial: &ExternObject) -> Result<Function, String> {
    let width = polynomial
        .type_args
        .first()
        .and_then(|ty| ty.scalar(program));
    let width = width.map_or(0, |ty| ty.width());
    if !(1..=64).contains(&width) {
        return Err(format!(
            "a CRCPolynomial of {width} bits is not supported; it has 1 to 64 bits"
        ));
    }
    let number = |at: usize| match polynomial.args.get(at) {
        Some(CtorArg::Int(value)) => {
            let modulus = BigInt::from(1) << width;
            let value: BigInt = ((value % &modulus) + &modulus) % &modulus;
            u64::try_from(value).map_err(|error| error.to_string())
        }
        _ => Err("a CRCPolynomial needs numbers and truth values".into()),
    };
    let reversed = number(1)? != 0;
    let extended = number(3)? != 0;
    let mut xor = number(5)?;
    if reversed {
        // The final XOR is applied before the bits are reversed.
        xor = xor.reverse_bits() >> (64 - width);
    }
    let crc = Crc::new(width, number(0)?, number(4)?, xor, (reversed, reversed));
    Ok(Function::Crc {
        crc: Box::new(crc),
        width,
        extended,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_combined_from_the_front() {
        assert_eq!(xor(&[0x12, 0x34, 0x56], 16), 0x1234 ^ 0x5600);
        assert_eq!(xor(&[0x12, 0x34, 0x56], 8), 0x12 ^ 0x34 ^ 0x56);
        assert_eq!(xor(&[1, 2, 3, 4, 5], 32), 0x0102_0304 ^ 0x0500_0000);
    }

    #[test]
    fn a_wide_result_repeats_a_crc() {
        assert_eq!(repeat(0xbb3d, 16), 0xbb3d_bb3d_bb3d_bb3d);
        assert_eq!(repeat(0b101, 3) & 0xff, 0b0110_1101);
    }
}
