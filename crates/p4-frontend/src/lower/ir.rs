//! Construction of types, places and expressions of the IR.

use crate::ast;
use crate::hir::{self, NamedKind, Ty, Value};
use num_bigint::{BigInt, BigUint};
use num_traits::{One, Signed, Zero};
use p4_ir::{BinaryOp, Expr, ExprKind, Location, Place, Scalar, UnaryOp, VariableId};

/// The type of the number of elements of a header stack that are in use.
pub(super) const NEXT_INDEX: Scalar = Scalar::Bit(32);

/// A placeholder after an error.
pub(super) const NOWHERE: Location = Location::variable(VariableId(0));

/// The scalar that represents a type. `None` for a composite type.
pub(super) fn scalar_type(hir: &hir::Program, ty: &Ty) -> Option<Scalar> {
    Some(match ty {
        Ty::Bool => Scalar::Bool,
        Ty::Bit(w) => Scalar::Bit(*w),
        Ty::Signed(w) => Scalar::Int(*w),
        Ty::Varbit(w) => Scalar::Varbit(*w),
        // A value that reaches the engine without a width: an index, a shift amount, a number to print.
        Ty::Int => Scalar::Int(64),
        Ty::ErrorCode | Ty::MatchKind | Ty::ActionEnum(..) => Scalar::Symbol,
        Ty::Named(named) => match named.kind {
            NamedKind::Enum => Scalar::Symbol,
            NamedKind::SerialisableEnum | NamedKind::New => {
                return scalar_type(hir, &hir.underlying(ty)?);
            }
            _ => return None,
        },
        _ => return None,
    })
}

/// The checker's type that is represented by this scalar.
pub(super) fn scalar_ty(scalar: Scalar) -> Ty {
    match scalar {
        Scalar::Bool => Ty::Bool,
        Scalar::Bit(w) => Ty::Bit(w),
        Scalar::Int(w) => Ty::Signed(w),
        Scalar::Varbit(w) => Ty::Varbit(w),
        Scalar::Symbol => Ty::ErrorCode,
    }
}

/// The checker's type of the value of a place.
pub(super) fn place_ty(place: &Place) -> Ty {
    scalar_ty(place.ty)
}

/// Member or element `i` of a value of type `ty`.
pub(super) fn part(whole: &Location, ty: &Ty, i: usize) -> Location {
    match ty {
        Ty::Stack(..) => whole.element_at(i as u32),
        _ => whole.member(i as u32),
    }
}

/// The `nextIndex` of a stack.
pub(super) fn next_index(stack: &Location) -> Place {
    Place {
        at: stack.next_index(),
        ty: NEXT_INDEX,
    }
}

/// The value at a location.
pub(super) fn load(at: &Location, ty: Scalar) -> Expr {
    Expr::load(Place { at: at.clone(), ty })
}

/// The validity of the header at a location.
pub(super) fn validity(at: &Location) -> Expr {
    Expr::load(Place::validity(at))
}

/// The bits of `value` as an unsigned number below 2^`width`.
pub(super) fn bits(value: &BigInt, width: u32) -> BigUint {
    let modulus = BigInt::one() << width;
    let low = ((value % &modulus) + &modulus) % &modulus;
    low.to_biguint().unwrap_or_default()
}

/// The bits of a known value in the IR's representation.
pub(super) fn value_bits(value: &Value, scalar: Scalar) -> BigUint {
    match value {
        Value::Int(value) => bits(value, scalar.width()),
        Value::Bool(value) => BigUint::from(u8::from(*value)),
        Value::Symbol(index) => BigUint::from(*index),
        Value::String(_) => BigUint::zero(),
    }
}

pub(super) fn constant(value: &Value, scalar: Scalar) -> Expr {
    let scalar = match (value, scalar) {
        // An `int` without a width from its context keeps all of its bits.
        (Value::Int(v), Scalar::Int(64)) => Scalar::Int(signed_width(v).max(64)),
        _ => scalar,
    };
    Expr::constant(value_bits(value, scalar), scalar)
}

/// The minimum width of an `int<W>` that can hold a number.
fn signed_width(number: &BigInt) -> u32 {
    let magnitude = if number.is_negative() {
        (number + 1u32).bits()
    } else {
        number.bits()
    };
    magnitude as u32 + 1
}

pub(super) fn binary_op(op: ast::BinaryOp) -> BinaryOp {
    match op {
        ast::BinaryOp::Mul => BinaryOp::Mul,
        ast::BinaryOp::Div => BinaryOp::Div,
        ast::BinaryOp::Mod => BinaryOp::Mod,
        ast::BinaryOp::Add => BinaryOp::Add,
        ast::BinaryOp::Sub => BinaryOp::Sub,
        ast::BinaryOp::SatAdd => BinaryOp::SatAdd,
        ast::BinaryOp::SatSub => BinaryOp::SatSub,
        ast::BinaryOp::Shl => BinaryOp::Shl,
        ast::BinaryOp::Shr => BinaryOp::Shr,
        ast::BinaryOp::Le => BinaryOp::Le,
        ast::BinaryOp::Ge => BinaryOp::Ge,
        ast::BinaryOp::Lt => BinaryOp::Lt,
        ast::BinaryOp::Gt => BinaryOp::Gt,
        ast::BinaryOp::Eq => BinaryOp::Eq,
        ast::BinaryOp::Ne => BinaryOp::Ne,
        ast::BinaryOp::BitAnd => BinaryOp::BitAnd,
        ast::BinaryOp::BitXor => BinaryOp::BitXor,
        ast::BinaryOp::BitOr => BinaryOp::BitOr,
        ast::BinaryOp::Concat => BinaryOp::Concat,
        ast::BinaryOp::And => BinaryOp::And,
        ast::BinaryOp::Or => BinaryOp::Or,
    }
}

pub(super) fn ir_binary(op: BinaryOp, left: Expr, right: Expr, ty: Scalar) -> Expr {
    Expr {
        kind: ExprKind::Binary(op, Box::new(left), Box::new(right)),
        ty,
    }
}

pub(super) fn ir_not(of: Expr) -> Expr {
    Expr {
        kind: ExprKind::Unary(UnaryOp::Not, Box::new(of)),
        ty: Scalar::Bool,
    }
}

pub(super) fn ir_bool(value: bool) -> Expr {
    Expr::constant(u32::from(value), Scalar::Bool)
}

pub(super) fn minus_one(value: Expr) -> Expr {
    let ty = value.ty;
    let one = Expr::constant(1u32, ty);
    Expr {
        kind: ExprKind::Binary(BinaryOp::Sub, Box::new(value), Box::new(one)),
        ty,
    }
}
