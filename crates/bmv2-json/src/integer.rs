//! Numbers of the JSON: `"0x00ff"`, `"-0x01"`, and `"00ff"`, as older compilers wrote them.

use crate::node::{Node, Result};
use num_bigint::{BigInt, BigUint, Sign};
use num_traits::{One, Signed, Zero};
use p4_ir::{Expr, ExprKind, Scalar};

/// The widest number; what p4c writes is never wider than a header.
const MAX_DIGITS: usize = 1024;

/// Reads a number.
pub fn integer(node: &Node<'_>) -> Result<BigInt> {
    let text = node.str()?;
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let digits = digits.strip_prefix("0x").unwrap_or(digits);
    let value = match digits.len() <= MAX_DIGITS {
        true => BigUint::parse_bytes(digits.as_bytes(), 16),
        false => None,
    };
    let value = value.ok_or_else(|| {
        let shown: String = text.chars().take(40).collect();
        node.error(format!(
            "{shown:?} is not a number; expected one such as \"0x1f\", with at most {MAX_DIGITS} digits"
        ))
    })?;
    let value = BigInt::from(value);
    Ok(if negative { -value } else { value })
}

/// Reads a number that is not negative.
pub fn natural(node: &Node<'_>) -> Result<BigUint> {
    let value = integer(node)?;
    let valid = value.to_biguint();
    valid.ok_or_else(|| node.error(format!("{value} is negative; this must be 0 or more")))
}

/// Reads a number modulo 2^W: p4c writes -1 for the ones of an `int<W>`.
pub fn bits(node: &Node<'_>, width: u32) -> Result<BigUint> {
    let encoded = encode(&integer(node)?, Scalar::Bit(width));
    Ok(match encoded.kind {
        ExprKind::Const(value) => value,
        _ => BigUint::ZERO,
    })
}

/// A constant of the narrowest type: `bit<W>`, or `int<W>` if it is negative.
pub fn constant(value: &BigInt) -> Expr {
    let bits = value.bits().max(1) as u32;
    match value.sign() {
        Sign::Minus => encode(value, Scalar::Int(bits + 1)),
        _ => encode(value, Scalar::Bit(bits)),
    }
}

/// A constant of a type, modulo 2^W.
pub fn encode(value: &BigInt, ty: Scalar) -> Expr {
    let modulus = BigInt::one() << ty.width();
    let rest = value % &modulus;
    let rest = if rest.is_negative() {
        rest + modulus
    } else {
        rest
    };
    Expr::constant(rest.to_biguint().unwrap_or_default(), ty)
}

/// The number that a constant expression is.
pub fn decode(expr: &Expr) -> Option<BigInt> {
    let ExprKind::Const(value) = &expr.kind else {
        return None;
    };
    let value = BigInt::from(value.clone());
    let width = expr.ty.width();
    let negative =
        matches!(expr.ty, Scalar::Int(_)) && width > 0 && !(&value >> (width - 1)).is_zero();
    Some(if negative {
        value - (BigInt::one() << width)
    } else {
        value
    })
}

/// 2^W − 1.
pub fn ones(width: u32) -> BigUint {
    (BigUint::one() << width) - 1u8
}
