//! The values of numbers and strings.

use num_bigint::BigInt;
use num_traits::Num;

use crate::ast::{IntLiteral, LiteralWidth};

/// The widest literal that is accepted: wider than any header, without exhausting memory.
pub const MAX_WIDTH: u32 = 65_536;

/// The value of `12`, `0xff`, `8w0b1010_1010`, `4s7`, or an error message.
pub fn number(text: &str) -> Result<IntLiteral, String> {
    let (width, digits) = split_width(text)?;
    let (radix, digits) = split_radix(digits);
    let digits: String = digits.chars().filter(|c| *c != '_').collect();
    if digits.is_empty() {
        return Err(format!("`{text}` has no digits"));
    }
    if let Some(bad) = digits.chars().find(|c| !c.is_digit(radix)) {
        return Err(format!(
            "`{bad}` is not a valid {} digit",
            match radix {
                2 => "binary",
                8 => "octal",
                10 => "decimal",
                _ => "hexadecimal",
            }
        ));
    }
    let value = BigInt::from_str_radix(&digits, radix).map_err(|error| error.to_string())?;
    Ok(IntLiteral {
        value,
        width,
        radix,
    })
}

/// Splits off `8w` or `8s`.
fn split_width(text: &str) -> Result<(Option<LiteralWidth>, &str), String> {
    let Some(at) = text.find(|c: char| !c.is_ascii_digit() && c != '_') else {
        return Ok((None, text));
    };
    let (bits, rest) = text.split_at(at);
    let signed = match rest.as_bytes()[0] {
        b'w' => false,
        b's' => true,
        _ => return Ok((None, text)),
    };
    let digits: String = bits.chars().filter(|c| *c != '_').collect();
    match digits.parse() {
        Ok(bits) if bits <= MAX_WIDTH => Ok((Some(LiteralWidth { bits, signed }), &rest[1..])),
        _ => Err(format!(
            "a literal has at most {MAX_WIDTH} bits, this one {digits}"
        )),
    }
}

/// Splits off `0x`, `0o`, `0d` or `0b`.
fn split_radix(text: &str) -> (u32, &str) {
    let radix = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => 16,
        [b'0', b'o' | b'O', ..] => 8,
        [b'0', b'd' | b'D', ..] => 10,
        [b'0', b'b' | b'B', ..] => 2,
        _ => return (10, text),
    };
    (radix, &text[2..])
}

/// The content of a string in quotes. The escapes are `\"`, `\\`, `\n` and a backslash at the end of a line. Any other
/// backslash is kept.
pub fn string(text: &str) -> String {
    let inner = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
        .unwrap_or(text);
    let mut value = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            value.push(c);
            continue;
        }
        match chars.next() {
            Some(c @ ('"' | '\\')) => value.push(c),
            Some('n') => value.push('\n'),
            Some('\n') => {}
            Some(c) => value.extend(['\\', c]),
            None => value.push('\\'),
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> (i64, Option<(u32, bool)>) {
        let literal = number(text).expect(text);
        (
            i64::try_from(literal.value).expect("fits"),
            literal.width.map(|width| (width.bits, width.signed)),
        )
    }

    #[test]
    fn every_form_of_number() {
        assert_eq!(value("1_000"), (1000, None));
        assert_eq!(value("007"), (7, None));
        assert_eq!(value("0xFf"), (255, None));
        assert_eq!(value("0b1010_1010"), (0xaa, None));
        assert_eq!(value("0o17"), (15, None));
        assert_eq!(value("0D19"), (19, None));
        assert_eq!(value("8w0xFF"), (255, Some((8, false))));
        assert_eq!(value("4s1"), (1, Some((4, true))));
        assert_eq!(value("16w0b_1"), (1, Some((16, false))));
    }

    #[test]
    fn bad_digits_are_named() {
        assert_eq!(
            number("0b12").unwrap_err(),
            "`2` is not a valid binary digit"
        );
        assert_eq!(
            number("12x").unwrap_err(),
            "`x` is not a valid decimal digit"
        );
        assert_eq!(number("0x").unwrap_err(), "`0x` has no digits");
        assert!(number("99999999999w1").unwrap_err().contains("at most"));
    }

    #[test]
    fn escapes() {
        assert_eq!(string(r#""a\"b\\c\d""#), r#"a"b\c\d"#);
        assert_eq!(string("\"a\\\nb\""), "ab");
    }
}
