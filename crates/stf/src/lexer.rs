//! The lexer for a line of a script.

use crate::{Digits, Number, Tail};
use num_bigint::BigUint;
use thiserror::Error;

/// A syntax error in a script, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: expected {expected}, found {found}")]
pub struct ParseError {
    /// From 1.
    pub line: u32,
    /// In characters, from 1.
    pub column: u32,
    /// The valid input.
    pub expected: String,
    /// The input found.
    pub found: String,
}

/// The rest of a line.
pub(crate) struct Line<'a> {
    text: &'a str,
    at: usize,
    number: u32,
}

impl<'a> Line<'a> {
    /// A line without its comment.
    pub fn new(number: u32, text: &'a str) -> Self {
        let text = text[..comment(text)].trim_end();
        let mut line = Line {
            text,
            at: 0,
            number,
        };
        line.skip_spaces();
        line
    }

    pub fn number(&self) -> u32 {
        self.number
    }

    pub fn is_empty(&self) -> bool {
        self.rest().is_empty()
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_spaces(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// An error at the current position.
    pub fn error(&self, expected: impl Into<String>) -> ParseError {
        let word: String = self
            .rest()
            .chars()
            .take_while(|c| !c.is_whitespace())
            .collect();
        ParseError {
            line: self.number,
            column: self.text[..self.at].chars().count() as u32 + 1,
            expected: expected.into(),
            found: if word.is_empty() {
                "the end of the line".into()
            } else {
                format!("`{word}`")
            },
        }
    }

    /// Takes characters up to the first one that is not wanted, and the spaces behind them.
    pub fn take(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.at += end;
        self.skip_spaces();
        &rest[..end]
    }

    /// Takes the text if it comes next. Returns whether it does.
    pub fn eat(&mut self, text: &str) -> bool {
        if !self.rest().starts_with(text) {
            return false;
        }
        self.at += text.len();
        self.skip_spaces();
        true
    }

    pub fn expect(&mut self, text: &str) -> Result<(), ParseError> {
        if self.eat(text) {
            Ok(())
        } else {
            Err(self.error(format!("`{text}`")))
        }
    }

    pub fn end(&self) -> Result<(), ParseError> {
        if self.is_empty() {
            Ok(())
        } else {
            Err(self.error("the end of the line"))
        }
    }

    /// A name: `t`, `hdr.h[0].f`, `"any characters but a quotation mark"`, `$A`.
    pub fn name(&mut self, what: &str) -> Result<String, ParseError> {
        let before = self.at;
        if let Some(quoted) = self.rest().strip_prefix('"') {
            let Some((name, _)) = quoted.split_once('"') else {
                return Err(self.error("a closing quotation mark on the same line"));
            };
            if name.is_empty() {
                return Err(self.error(what));
            }
            self.at += name.len() + 2;
            self.skip_spaces();
            return Ok(name.into());
        }
        let name = self.take(|c| c.is_alphanumeric() || "_$.[]".contains(c));
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            self.at = before;
            return Err(self.error(what));
        }
        Ok(name.into())
    }

    /// A whole number in decimal.
    pub fn integer<T: TryFrom<u64>>(&mut self, what: &str) -> Result<T, ParseError> {
        let before = self.at;
        let number = self.number_token(what)?;
        let value = number
            .plain()
            .ok()
            .and_then(|value| u64::try_from(value).ok());
        value
            .and_then(|value| T::try_from(value).ok())
            .ok_or_else(|| {
                self.at = before;
                self.error(what)
            })
    }

    /// A number, optionally with wildcard digits or a prefix length.
    pub fn number_token(&mut self, what: &str) -> Result<Number, ParseError> {
        let before = self.at;
        let word = self.take(|c| c.is_ascii_alphanumeric() || c == '*');
        let Some((value, digits)) = parse(word) else {
            self.at = before;
            return Err(self.error(what));
        };
        let tail = if self.eat("/") {
            Tail::Prefix(self.integer("a prefix length")?)
        } else if self.eat("->") {
            Tail::To(self.plain_number("the greatest value of the range")?)
        } else if self.eat("&&&") {
            Tail::Mask(self.plain_number("a mask")?)
        } else {
            Tail::None
        };
        Ok(Number {
            value,
            digits,
            tail,
        })
    }

    /// A number without wildcard digits.
    fn plain_number(&mut self, what: &str) -> Result<BigUint, ParseError> {
        let bad = self.error(what);
        let word = self.take(|c| c.is_ascii_alphanumeric());
        parse(word).map(|(value, _)| value).ok_or(bad)
    }
}

/// Where the comment of a line begins: at the first `#` outside quotation marks.
fn comment(text: &str) -> usize {
    let mut quoted = false;
    let begins = |(_, c): &(usize, char)| {
        quoted ^= *c == '"';
        *c == '#' && !quoted
    };
    text.char_indices()
        .find(begins)
        .map_or(text.len(), |(at, _)| at)
}

fn parse(word: &str) -> Option<(BigUint, Digits)> {
    let lower = word.to_ascii_lowercase();
    let (digits, bits) = match lower.get(..2) {
        Some("0x") => (&lower[2..], 4),
        Some("0o") => (&lower[2..], 3),
        Some("0b") => (&lower[2..], 1),
        _ => return Some((BigUint::parse_bytes(lower.as_bytes(), 10)?, Digits::Decimal)),
    };
    if digits.is_empty() {
        return None;
    }
    let (mut value, mut mask) = (BigUint::ZERO, BigUint::ZERO);
    let mut count = 0;
    for digit in digits.chars() {
        value <<= bits;
        mask <<= bits;
        if digit != '*' {
            value += digit.to_digit(1 << bits)?;
            mask += (1u32 << bits) - 1;
            count += bits;
        }
    }
    let wild = digits.contains('*');
    Some((value, Digits::Bits { mask, count, wild }))
}
