//! Values in a scenario: addresses, numbers, sets of values for a table's key.

use num_bigint::BigUint;
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::net::Ipv4Addr;
use std::str::FromStr;

/// An IPv4 address, written `"10.0.1.1"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ipv4(pub [u8; 4]);

/// An Ethernet address, written `"02:00:00:00:01:01"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mac(pub [u8; 6]);

/// A number: `17`, `"17"`, `"0x11"`, `"10.0.0.1"` or `"02:00:00:00:01:01"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value(pub BigUint);

/// A set of values of one key.
///
/// Written as a [`Value`]; with a prefix length, `"10.0.1.0/24"`; as a range, `[low, high]`, both
/// inclusive; under a mask, `"0x10 &&& 0xf0"`; or `"*"` for anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MatchValue {
    /// This value only.
    Exact(BigUint),
    /// A value and the number of its leading bits that count.
    Prefix(BigUint, u32),
    /// From the first to the second value, both inclusive.
    Range(BigUint, BigUint),
    /// The bits of the value that are set in the mask (second).
    Mask(BigUint, BigUint),
    /// Anything.
    Any,
}

const VALUE_FORMS: &str = "a number: 17, \"17\", \"0x11\", \"10.0.0.1\" or \"02:00:00:00:01:01\"";
const MATCH_FORMS: &str = "a value (17, \"0x11\", \"10.0.0.1\", \"02:00:00:00:01:01\"), \
     a prefix \"10.0.1.0/24\", a range [low, high], a mask \"0x10 &&& 0xf0\", or \"*\"";

impl FromStr for Ipv4 {
    type Err = String;
    fn from_str(s: &str) -> Result<Self, String> {
        Ipv4Addr::from_str(s)
            .map(|a| Ipv4(a.octets()))
            .map_err(|_| format!("{s:?} is not an IPv4 address; expected the form \"10.0.1.1\""))
    }
}

impl FromStr for Mac {
    type Err = String;
    fn from_str(s: &str) -> Result<Self, String> {
        let wrong =
            || format!("{s:?} is not an Ethernet address; expected the form \"02:00:00:00:01:01\"");
        let mut octets = [0; 6];
        let mut parts = s.split(':');
        for octet in &mut octets {
            let part = parts.next().filter(|p| p.len() == 2).ok_or_else(wrong)?;
            *octet = u8::from_str_radix(part, 16).map_err(|_| wrong())?;
        }
        match parts.next() {
            None => Ok(Mac(octets)),
            Some(_) => Err(wrong()),
        }
    }
}

impl FromStr for Value {
    type Err = String;
    fn from_str(s: &str) -> Result<Self, String> {
        let s = s.trim();
        if let Ok(Ipv4(octets)) = s.parse() {
            return Ok(Value(BigUint::from_bytes_be(&octets)));
        }
        if let Ok(Mac(octets)) = s.parse() {
            return Ok(Value(BigUint::from_bytes_be(&octets)));
        }
        let number = match s.strip_prefix("0x").or_else(|| s.strip_prefix("0X")) {
            Some(digits) => BigUint::parse_bytes(digits.as_bytes(), 16),
            None => BigUint::parse_bytes(s.as_bytes(), 10),
        };
        number
            .map(Value)
            .ok_or_else(|| format!("{s:?} is not a value; expected {VALUE_FORMS}"))
    }
}

impl FromStr for MatchValue {
    type Err = String;
    fn from_str(s: &str) -> Result<Self, String> {
        if s.trim() == "*" {
            return Ok(MatchValue::Any);
        }
        if let Some((value, mask)) = s.split_once("&&&") {
            return Ok(MatchValue::Mask(
                value.parse::<Value>()?.0,
                mask.parse::<Value>()?.0,
            ));
        }
        if let Some((value, length)) = s.split_once('/') {
            let bits = length
                .trim()
                .parse()
                .map_err(|_| format!("{s:?}: the prefix length is not a number of bits"))?;
            return Ok(MatchValue::Prefix(value.parse::<Value>()?.0, bits));
        }
        Ok(MatchValue::Exact(s.parse::<Value>()?.0))
    }
}

impl fmt::Display for Ipv4 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ipv4Addr::from(self.0).fmt(f)
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl fmt::Display for MatchValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MatchValue::Exact(value) => write!(f, "{value:#x}"),
            MatchValue::Prefix(value, bits) => write!(f, "{value:#x}/{bits}"),
            MatchValue::Range(low, high) => write!(f, "[{low:#x}, {high:#x}]"),
            MatchValue::Mask(value, mask) => write!(f, "{value:#x} &&& {mask:#x}"),
            MatchValue::Any => write!(f, "*"),
        }
    }
}

/// Reads a value that is a number or a string that can be parsed.
struct Scalar<T>(&'static str, std::marker::PhantomData<T>);

impl<'de, T: FromStr<Err = String> + From<u64>> Visitor<'de> for Scalar<T> {
    type Value = T;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
    fn visit_u64<E: de::Error>(self, v: u64) -> Result<T, E> {
        Ok(T::from(v))
    }
    fn visit_str<E: de::Error>(self, v: &str) -> Result<T, E> {
        v.parse().map_err(E::custom)
    }
}

struct MatchVisitor;

impl<'de> Visitor<'de> for MatchVisitor {
    type Value = MatchValue;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MATCH_FORMS)
    }
    fn visit_u64<E: de::Error>(self, v: u64) -> Result<MatchValue, E> {
        Ok(MatchValue::Exact(v.into()))
    }
    fn visit_str<E: de::Error>(self, v: &str) -> Result<MatchValue, E> {
        v.parse().map_err(E::custom)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<MatchValue, A::Error> {
        let short = |n| de::Error::invalid_length(n, &"a range of two values, [low, high]");
        let low: Value = seq.next_element()?.ok_or_else(|| short(0))?;
        let high: Value = seq.next_element()?.ok_or_else(|| short(1))?;
        if seq.next_element::<Value>()?.is_some() {
            return Err(short(3));
        }
        if low.0 > high.0 {
            return Err(de::Error::custom(format!(
                "the range [{low}, {high}] is empty"
            )));
        }
        Ok(MatchValue::Range(low.0, high.0))
    }
}

impl From<u64> for Value {
    fn from(v: u64) -> Self {
        Value(v.into())
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(Scalar(VALUE_FORMS, std::marker::PhantomData))
    }
}

impl<'de> Deserialize<'de> for MatchValue {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(MatchVisitor)
    }
}

impl Serialize for MatchValue {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            MatchValue::Range(low, high) => (Value(low.clone()), Value(high.clone())).serialize(s),
            _ => s.collect_str(self),
        }
    }
}

macro_rules! as_text {
    ($($name:ident),*) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }
    )*};
}
as_text!(Ipv4, Mac, Value);

macro_rules! from_text {
    ($($name:ident),*) => {$(
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                String::deserialize(d)?.parse().map_err(de::Error::custom)
            }
        }
    )*};
}
from_text!(Ipv4, Mac);

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<MatchValue, String> {
        serde_json::from_str(json).map_err(|e| e.to_string())
    }

    #[test]
    fn every_form_of_a_match_is_read_and_written_back() {
        let cases = [
            ("17", MatchValue::Exact(17u32.into())),
            ("\"0x11\"", MatchValue::Exact(17u32.into())),
            (
                "\"10.0.1.0/24\"",
                MatchValue::Prefix(0x0a00_0100u32.into(), 24),
            ),
            (
                "[3, \"0x10\"]",
                MatchValue::Range(3u32.into(), 16u32.into()),
            ),
            ("\"1 &&& 3\"", MatchValue::Mask(1u32.into(), 3u32.into())),
            ("\"*\"", MatchValue::Any),
            (
                "\"02:00:00:00:01:01\"",
                MatchValue::Exact(0x0200_0000_0101u64.into()),
            ),
        ];
        for (json, value) in cases {
            assert_eq!(read(json).as_ref(), Ok(&value), "{json}");
            let written = serde_json::to_string(&value).unwrap();
            assert_eq!(read(&written), Ok(value), "{written}");
        }
    }

    #[test]
    fn wrong_values_say_what_is_valid() {
        for json in [
            "true",
            "\"x\"",
            "[1]",
            "[1, 2, 3]",
            "[2, 1]",
            "-1",
            "\"1/x\"",
        ] {
            let message = read(json).unwrap_err();
            assert!(message.len() > 20, "{json}: {message}");
        }
        assert!("02:00:00:00:01".parse::<Mac>().is_err());
        assert!("02:00:00:00:01:01:01".parse::<Mac>().is_err());
        assert!("10.0.0".parse::<Ipv4>().is_err());
    }
}
