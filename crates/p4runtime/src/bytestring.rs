//! Numbers as octet strings (specification, "Bytestrings"): big-endian; the shortest form is canonical. A value of a
//! type that is translated to a string is encoded as a decimal number.

use crate::fault::{Fault, Outcome};
use num_bigint::BigUint;

/// The encoding of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Width in bits.
    pub width: u32,
    /// The notation of its octets.
    pub notation: Notation,
}

/// The notation of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// Binary, of `bit<W>`.
    Unsigned,
    /// Two's complement, of `int<W>`.
    Signed,
    /// Decimal digits, of a type that is translated to a string.
    Decimal,
}

impl Shape {
    /// `bit<width>`.
    pub const fn bits(width: u32) -> Self {
        Shape {
            width,
            notation: Notation::Unsigned,
        }
    }

    /// `int<width>`.
    pub const fn int(width: u32) -> Self {
        Shape {
            width,
            notation: Notation::Signed,
        }
    }

    /// A number of the given width in decimal.
    pub const fn decimal(width: u32) -> Self {
        Shape {
            width,
            notation: Notation::Decimal,
        }
    }

    /// Decodes a number. Redundant leading octets are accepted in binary. In decimal, each number has one form.
    ///
    /// # Errors
    /// `OUT_OF_RANGE` if there is no octet, if the number needs more bits, or if the octets do not match the notation.
    pub fn decode(self, octets: &[u8]) -> Outcome<BigUint> {
        if self.notation == Notation::Decimal {
            return self.decode_decimal(octets);
        }
        let width = self.width;
        let signed = self.notation == Notation::Signed;
        let Some(&first) = octets.first() else {
            return Err(Fault::out_of_range(format!(
                "expected a value of {width} bits, found no octets (zero is one octet 00)"
            )));
        };
        let value = BigUint::from_bytes_be(octets);
        if signed && first >= 0x80 {
            return self.decode_negative(value, octets.len());
        }
        let room = width - u32::from(signed && width > 0);
        if value.bits() > u64::from(room) {
            return Err(self.too_large(&value));
        }
        Ok(value)
    }

    /// Encodes a number in its canonical form: without redundant leading octets, but with at least one octet.
    pub fn encode(self, value: &BigUint) -> Vec<u8> {
        let width = self.width;
        match self.notation {
            Notation::Decimal => return value.to_string().into_bytes(),
            Notation::Signed if width > 0 => {}
            _ => return value.to_bytes_be(),
        }
        let negative = value.bit(u64::from(width - 1));
        let octets = width.div_ceil(8) as usize;
        let extended = if negative {
            // The bits above the width are copies of the sign.
            value + (BigUint::from(1_u8) << (octets * 8)) - (BigUint::from(1_u8) << width)
        } else {
            value.clone()
        };
        let mut all = vec![0; octets];
        let digits = extended.to_bytes_be();
        all[octets - digits.len()..].copy_from_slice(&digits);
        let fill = if negative { 0xff } else { 0 };
        let says_nothing = |pair: &[u8]| pair[0] == fill && (pair[1] ^ fill) < 0x80;
        let skip = all.windows(2).take_while(|pair| says_nothing(pair)).count();
        all.split_off(skip)
    }

    /// A negative number. The bits above the width must be copies of the sign.
    fn decode_negative(self, value: BigUint, octets: usize) -> Outcome<BigUint> {
        let all = BigUint::from(1_u8) << (octets * 8);
        let distance = &all - &value;
        let half = BigUint::from(1_u8) << (self.width.max(1) - 1);
        if distance > half {
            return Err(self.too_large(&value));
        }
        Ok((BigUint::from(1_u8) << self.width) - distance)
    }

    fn decode_decimal(self, digits: &[u8]) -> Outcome<BigUint> {
        let refused = || {
            let found: String = String::from_utf8_lossy(digits).chars().take(40).collect();
            Fault::out_of_range(format!(
                "expected a number of {} bits in decimal, as its type is translated to a string, found {found:?}",
                self.width
            ))
        };
        // A digit represents more than three bits.
        let too_long = digits.len() as u64 > u64::from(self.width) / 3 + 1;
        let canonical =
            matches!(digits, [b'0'] | [b'1'..=b'9', ..]) && digits.iter().all(u8::is_ascii_digit);
        let value = match canonical && !too_long {
            true => BigUint::parse_bytes(digits, 10),
            false => None,
        };
        let fits = |value: &BigUint| value.bits() <= u64::from(self.width);
        value.filter(fits).ok_or_else(refused)
    }

    fn too_large(self, value: &BigUint) -> Fault {
        let kind = match self.notation {
            Notation::Signed => "signed ",
            _ => "",
        };
        let found = match value.bits() {
            bits if bits > 256 => format!("one of {bits} bits"),
            _ => format!("{value:#x}"),
        };
        Fault::out_of_range(format!(
            "expected a {kind}value of {} bits, found {found}",
            self.width
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tonic::Code;

    fn number(shape: Shape, octets: &[u8]) -> Result<u64, Code> {
        let decoded = shape.decode(octets).map_err(|fault| fault.code)?;
        Ok(u64::try_from(decoded).unwrap())
    }

    fn int(width: u32) -> Shape {
        Shape::int(width)
    }

    /// The examples of the specification.
    // p4runtime: bytes-table
    #[test]
    fn valid_and_invalid_examples_of_the_specification() {
        let bits = Shape::bits;
        let valid: [(Shape, u64, &[u8], bool); 14] = [
            (bits(8), 99, b"\x63", true),
            (bits(16), 99, b"\x00\x63", false),
            (bits(16), 99, b"\x63", true),
            (bits(16), 12_388, b"\x30\x64", true),
            (bits(16), 12_388, b"\x00\x30\x64", false),
            (bits(12), 99, b"\x00\x63", false),
            (bits(12), 99, b"\x63", true),
            (bits(12), 99, b"\x00\x00\x63", false),
            (int(8), 99, b"\x63", true),
            (int(8), 256 - 99, b"\x9d", true),
            (int(8), 256 - 99, b"\xff\x9d", false),
            (int(12), 4_096 - 739, b"\xfd\x1d", true),
            (int(16), 0, b"\x00\x00", false),
            (int(16), 0, b"\x00", true),
        ];
        for (shape, value, octets, canonical) in valid {
            assert_eq!(number(shape, octets), Ok(value), "{octets:?}");
            assert_eq!(shape.encode(&value.into()) == octets, canonical);
        }
        let invalid: [(Shape, &[u8]); 9] = [
            (bits(8), b"\x01\x63"),
            (bits(8), b""),
            (bits(16), b"\x01\x00\x63"),
            (bits(12), b"\x10\x63"),
            (bits(12), b"\x01\x00\x63"),
            (bits(12), b"\x00\x40\x63"),
            (int(8), b"\x00\x9d"),
            (int(12), b"\x8d\x1d"),
            (int(16), b""),
        ];
        for (shape, octets) in invalid {
            assert_eq!(number(shape, octets), Err(Code::OutOfRange), "{octets:?}");
        }
    }

    // p4runtime: bytes-signed
    #[test]
    fn signed_values_extend_their_sign() {
        assert_eq!(number(int(16), b"\xff"), Ok(0xffff));
        assert_eq!(number(int(12), b"\xf8\x00"), Ok(0x800));
        assert_eq!(number(int(12), b"\xf7\xff"), Err(Code::OutOfRange));
        assert_eq!(number(int(8), b"\x00\x80"), Err(Code::OutOfRange));
        for width in [1, 7, 8, 9, 16, 33] {
            for value in [0_u64, 1, 0x55, (1 << width) - 1, 1 << (width - 1)] {
                let value = value & ((1 << width) - 1);
                let octets = int(width).encode(&BigUint::from(value));
                assert_eq!(
                    number(int(width), &octets),
                    Ok(value),
                    "int<{width}> {value:#x}"
                );
            }
        }
        assert_eq!(int(16).encode(&BigUint::from(0xffff_u32)), b"\xff");
        assert_eq!(int(16).encode(&BigUint::from(0x80_u32)), b"\x00\x80");
    }

    // p4runtime: translated-string
    #[test]
    fn strings_are_decimal_numbers_in_one_form() {
        let shape = Shape::decimal(9);
        for (value, digits) in [(0, "0"), (7, "7"), (511, "511")] {
            assert_eq!(number(shape, digits.as_bytes()), Ok(value));
            assert_eq!(shape.encode(&value.into()), digits.as_bytes());
        }
        let wrong = [
            "",
            "00",
            "07",
            "512",
            "-1",
            "+1",
            "0x1",
            "1 ",
            "Ethernet0",
            "99999999999",
        ];
        for digits in wrong {
            assert_eq!(
                number(shape, digits.as_bytes()),
                Err(Code::OutOfRange),
                "{digits:?}"
            );
        }
        let megabytes = vec![b'9'; 8 << 20];
        assert_eq!(
            number(Shape::decimal(2048), &megabytes),
            Err(Code::OutOfRange)
        );
        let most = (BigUint::from(1_u8) << 2048) - 1_u8;
        let shape = Shape::decimal(2048);
        assert_eq!(shape.decode(&shape.encode(&most)), Ok(most));
    }

    // p4runtime: bytes-shortest, bytes-zero
    #[test]
    fn canonical_form_is_the_shortest() {
        assert_eq!(Shape::bits(32).encode(&BigUint::ZERO), b"\0");
        assert_eq!(
            Shape::bits(32).encode(&BigUint::from(0x1ff_u32)),
            b"\x01\xff"
        );
    }
}
