//! Constant folding: operators on compile-time values.

use crate::ast::{BinaryOp, UnaryOp};
use crate::hir::{Ty, Value};
use num_bigint::{BigInt, Sign};
use num_traits::{One, Signed, ToPrimitive, Zero};

/// The largest shift of an `int` by a constant, and the widest constant that folding creates. Larger ones are
/// considered errors.
const MAX_SHIFT: u32 = 1 << 16;

/// `value` as represented in the type: modulo 2^W.
pub fn wrap(value: &BigInt, ty: &Ty) -> BigInt {
    match ty {
        Ty::Bit(w) => modulo(value, *w),
        Ty::Signed(0) => BigInt::zero(),
        Ty::Signed(w) => {
            let low = modulo(value, *w);
            if low.bit(u64::from(*w) - 1) {
                low - (BigInt::one() << *w)
            } else {
                low
            }
        }
        _ => value.clone(),
    }
}

/// Whether the type can represent `value` exactly.
pub fn fits(value: &BigInt, ty: &Ty) -> bool {
    wrap(value, ty) == *value
}

fn modulo(value: &BigInt, width: u32) -> BigInt {
    if value.sign() != Sign::Minus && value.bits() <= u64::from(width) {
        return value.clone();
    }
    let modulus = BigInt::one() << width;
    ((value % &modulus) + &modulus) % modulus
}

/// `op operand`, of type `ty`.
pub fn unary(op: UnaryOp, operand: &Value, ty: &Ty) -> Option<Value> {
    Some(match (op, operand) {
        (UnaryOp::Not, Value::Bool(value)) => Value::Bool(!value),
        (UnaryOp::Minus, Value::Int(value)) => Value::Int(wrap(&-value, ty)),
        (UnaryOp::Plus, Value::Int(value)) => Value::Int(value.clone()),
        (UnaryOp::Complement, Value::Int(value)) => Value::Int(wrap(&!value.clone(), ty)),
        _ => return None,
    })
}

/// `left op right`, where `left` has type `left_ty`, `right` has `right_ty` and the result `ty`. `Err` contains the
/// error in the operands; `None` means that the result is not known at compile time.
pub fn binary(
    op: BinaryOp,
    (left, left_ty): (&Value, &Ty),
    (right, right_ty): (&Value, &Ty),
    ty: &Ty,
) -> Result<Option<Value>, &'static str> {
    let value = match (left, right) {
        (Value::Bool(a), Value::Bool(b)) => match op {
            BinaryOp::And => Value::Bool(*a && *b),
            BinaryOp::Or => Value::Bool(*a || *b),
            BinaryOp::Eq => Value::Bool(a == b),
            BinaryOp::Ne => Value::Bool(a != b),
            _ => return Ok(None),
        },
        (Value::String(a), Value::String(b)) if op == BinaryOp::Concat => {
            Value::String(format!("{a}{b}").into())
        }
        (Value::Int(a), Value::Int(b)) => return ints(op, (a, left_ty), (b, right_ty), ty),
        (a, b) => match op {
            BinaryOp::Eq => Value::Bool(a == b),
            BinaryOp::Ne => Value::Bool(a != b),
            _ => return Ok(None),
        },
    };
    Ok(Some(value))
}

fn ints(
    op: BinaryOp,
    (a, a_ty): (&BigInt, &Ty),
    (b, b_ty): (&BigInt, &Ty),
    ty: &Ty,
) -> Result<Option<Value>, &'static str> {
    let int = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div | BinaryOp::Mod if b.is_zero() => return Err("division by zero"),
        BinaryOp::Div | BinaryOp::Mod if a.is_negative() || b.is_negative() => {
            return Err("`/` and `%` are not defined for negative numbers");
        }
        BinaryOp::Div => a / b,
        BinaryOp::Mod => a % b,
        BinaryOp::SatAdd => return Ok(Some(Value::Int(clamp(a + b, ty)))),
        BinaryOp::SatSub => return Ok(Some(Value::Int(clamp(a - b, ty)))),
        BinaryOp::BitAnd => a & b,
        BinaryOp::BitOr => a | b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::Shl | BinaryOp::Shr => {
            if b.is_negative() {
                return Err("a shift by a negative amount");
            }
            let most = a_ty.width().unwrap_or(MAX_SHIFT);
            match (op, b.to_u32().filter(|n| *n <= most)) {
                (BinaryOp::Shl, Some(by)) => a << by,
                (BinaryOp::Shl, None) if *ty == Ty::Int => return Err("a shift by too much"),
                (BinaryOp::Shl, None) => BigInt::zero(),
                (_, Some(by)) => a >> by,
                (_, None) if a.is_negative() => -BigInt::one(),
                (_, None) => BigInt::zero(),
            }
        }
        BinaryOp::Concat => {
            let (Some(wa), Some(wb)) = (a_ty.width(), b_ty.width()) else {
                return Ok(None);
            };
            (modulo(a, wa) << wb) | modulo(b, wb)
        }
        BinaryOp::Eq => return Ok(Some(Value::Bool(a == b))),
        BinaryOp::Ne => return Ok(Some(Value::Bool(a != b))),
        BinaryOp::Lt => return Ok(Some(Value::Bool(a < b))),
        BinaryOp::Le => return Ok(Some(Value::Bool(a <= b))),
        BinaryOp::Gt => return Ok(Some(Value::Bool(a > b))),
        BinaryOp::Ge => return Ok(Some(Value::Bool(a >= b))),
        BinaryOp::And | BinaryOp::Or => return Ok(None),
    };
    let value = wrap(&int, ty);
    if value.bits() > u64::from(MAX_SHIFT) {
        return Err("a constant of more than 65536 bits");
    }
    Ok(Some(Value::Int(value)))
}

fn clamp(value: BigInt, ty: &Ty) -> BigInt {
    match bounds(ty) {
        Some((low, high)) => value.clamp(low, high),
        None => value,
    }
}

/// The minimum and maximum of a type with a width.
pub fn bounds(ty: &Ty) -> Option<(BigInt, BigInt)> {
    match ty {
        Ty::Bit(w) => Some((BigInt::zero(), (BigInt::one() << *w) - 1)),
        Ty::Signed(w) if *w > 0 => {
            let half = BigInt::one() << (*w - 1);
            Some((-half.clone(), half - 1))
        }
        _ => None,
    }
}

/// Bits `hi..=lo` of a value.
pub fn slice(value: &BigInt, hi: u32, lo: u32) -> BigInt {
    modulo(&(value >> lo), hi - lo + 1)
}

/// A value of type `from` converted to `to`, for conversions that the checker accepts.
pub fn cast(value: &Value, to: &Ty) -> Option<Value> {
    Some(match (value, to) {
        (Value::Int(v), Ty::Bit(_) | Ty::Signed(_) | Ty::Int) => Value::Int(wrap(v, to)),
        (Value::Int(v), Ty::Bool) => Value::Bool(!v.is_zero()),
        (Value::Bool(v), Ty::Bit(_) | Ty::Signed(_) | Ty::Int) => {
            Value::Int(BigInt::from(u8::from(*v)))
        }
        (Value::Int(_), Ty::Named(_)) => value.clone(),
        (value, _) => value.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_wrap_to_their_type() {
        assert_eq!(wrap(&BigInt::from(-1), &Ty::Bit(8)), BigInt::from(255));
        assert_eq!(wrap(&BigInt::from(128), &Ty::Signed(8)), BigInt::from(-128));
        assert!(!fits(&BigInt::from(256), &Ty::Bit(8)));
        assert!(fits(&BigInt::from(-128), &Ty::Signed(8)));
    }

    #[test]
    fn only_what_is_left_of_a_value_is_limited() {
        let byte = Ty::Bit(8);
        let of = |op, a: BigInt, b: BigInt, ty: &Ty| {
            binary(op, (&Value::Int(a), ty), (&Value::Int(b), ty), ty)
        };
        let shifted = of(BinaryOp::Shl, 255.into(), MAX_SHIFT.into(), &byte);
        assert_eq!(shifted, Ok(Some(Value::Int(0.into()))));
        assert!(of(BinaryOp::Shl, 255.into(), MAX_SHIFT.into(), &Ty::Int).is_err());
        let long = Ty::Bit(40_000);
        let ones = wrap(&BigInt::from(-1), &long);
        let squared = of(BinaryOp::Mul, ones.clone(), ones, &long);
        assert_eq!(squared, Ok(Some(Value::Int(1.into()))));
    }

    #[test]
    fn division_by_zero_is_refused() {
        let (one, zero) = (Value::Int(1.into()), Value::Int(0.into()));
        let got = binary(BinaryOp::Div, (&one, &Ty::Int), (&zero, &Ty::Int), &Ty::Int);
        assert!(got.is_err());
    }
}
