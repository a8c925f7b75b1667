//! Expressions of the IR, put together from others.

use crate::integer;
use p4_ir::{BinaryOp, Expr, ExprKind, Scalar, UnaryOp};

/// The widest intermediate value; what is beyond is cut off.
pub const MAX_WIDTH: u32 = 2048;

/// An operator whose result has the type of its operands.
pub fn arithmetic(op: &str) -> BinaryOp {
    match op {
        "+" => BinaryOp::Add,
        "*" => BinaryOp::Mul,
        "/" => BinaryOp::Div,
        "%" => BinaryOp::Mod,
        "|" => BinaryOp::BitOr,
        _ => BinaryOp::BitXor,
    }
}

/// `true` or `false`.
pub fn truth(value: bool) -> Expr {
    Expr::constant(u8::from(value), Scalar::Bool)
}

/// Whether a number is not 0.
pub fn truth_of(value: Expr) -> Expr {
    match (&value.kind, value.ty) {
        (_, Scalar::Bool) => value,
        (ExprKind::Cast(of), _) if of.ty == Scalar::Bool => (**of).clone(),
        _ => {
            let zero = Expr::constant(0u8, value.ty);
            binary(BinaryOp::Ne, value, zero, Scalar::Bool)
        }
    }
}

/// A condition as 0 or 1; a number as it is.
pub fn number(value: Expr) -> Expr {
    match value.ty {
        Scalar::Bool => resize(value, Scalar::Bit(1)),
        _ => value,
    }
}

/// A number that is not negative, for indices and shifts.
pub fn unsigned(value: Expr) -> Expr {
    let width = value.ty.width();
    match value.ty {
        Scalar::Bit(_) => value,
        _ => resize(value, Scalar::Bit(width)),
    }
}

/// Bits that a value needs with a sign.
pub fn signed_width(value: &Expr) -> u32 {
    match value.ty {
        Scalar::Int(width) => width,
        ty => ty.width() + 1,
    }
}

/// A type that holds both values.
pub fn common(a: &Expr, b: &Expr) -> Scalar {
    match (a.ty, b.ty) {
        (Scalar::Int(_), _) | (_, Scalar::Int(_)) => {
            Scalar::Int(signed_width(a).max(signed_width(b)).min(MAX_WIDTH))
        }
        (a, b) => Scalar::Bit(a.width().max(b.width())),
    }
}

/// A type with more bits.
pub fn wider(ty: Scalar, bits: u32) -> Scalar {
    let width = (ty.width() + bits).min(MAX_WIDTH.max(ty.width()));
    match ty {
        Scalar::Int(_) => Scalar::Int(width),
        _ => Scalar::Bit(width),
    }
}

/// The value in another type: cut, or extended by zero or by its sign.
pub fn resize(value: Expr, ty: Scalar) -> Expr {
    if value.ty == ty {
        return value;
    }
    if let Some(known) = integer::decode(&value) {
        return integer::encode(&known, ty);
    }
    Expr {
        kind: ExprKind::Cast(Box::new(value)),
        ty,
    }
}

/// An operator on two values.
pub fn binary(op: BinaryOp, a: Expr, b: Expr, ty: Scalar) -> Expr {
    Expr {
        kind: ExprKind::Binary(op, Box::new(a), Box::new(b)),
        ty,
    }
}

/// An operator on one value.
pub fn unary(op: UnaryOp, a: Expr, ty: Scalar) -> Expr {
    Expr {
        kind: ExprKind::Unary(op, Box::new(a)),
        ty,
    }
}

/// One of two values of a type.
pub fn mux(condition: Expr, yes: Expr, no: Expr) -> Expr {
    let ty = yes.ty;
    Expr {
        kind: ExprKind::Mux(Box::new(condition), Box::new(yes), Box::new(no)),
        ty,
    }
}
