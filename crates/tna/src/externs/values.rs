//! Functions of values, and compile-time properties of values.

use super::Lowering;
use crate::ports;
use num_bigint::BigUint;
use p4_ir::{Arg, BinaryOp, Expr, ExprKind, ExternCall, Place, Scalar};

/// `max(a, b)` or `min(a, b)`.
pub fn limit(c: &mut Lowering<'_>, call: &ExternCall, [a, b]: [&Arg; 2], most: bool) -> Option<()> {
    let (Arg::In(a), Arg::In(b)) = (a, b) else {
        return None;
    };
    let op = if most { BinaryOp::Gt } else { BinaryOp::Lt };
    let first = Expr {
        kind: ExprKind::Binary(op, a.clone().into(), b.clone().into()),
        ty: Scalar::Bool,
    };
    let value = Expr {
        kind: ExprKind::Mux(first.into(), a.clone().into(), b.clone().into()),
        ty: a.ty,
    };
    result(c, call, &value)
}

/// `funnel_shift_right(dst, src1, src2, amount)`: the low half of both sources, concatenated and shifted right.
pub fn funnel_shift(c: &mut Lowering<'_>, to: &Arg, [high, low, by]: [&Arg; 3]) -> Option<()> {
    let (Arg::Out(to), Arg::In(high), Arg::In(low), Arg::In(by)) = (to, high, low, by) else {
        return None;
    };
    let wide = Scalar::Bit(high.ty.width() + low.ty.width());
    let both = Expr {
        kind: ExprKind::Binary(BinaryOp::Concat, high.clone().into(), low.clone().into()),
        ty: wide,
    };
    let shifted = Expr {
        kind: ExprKind::Binary(BinaryOp::Shr, both.into(), by.clone().into()),
        ty: wide,
    };
    let value = Expr {
        kind: ExprKind::Slice {
            of: shifted.into(),
            hi: to.ty.width() - 1,
            lo: 0,
        },
        ty: to.ty,
    };
    c.assign(to, &value);
    Some(())
}

/// `sizeInBits(h)` or `sizeInBytes(h)`.
pub fn size(c: &mut Lowering<'_>, call: &ExternCall, of: &Arg, octets: bool) -> Option<()> {
    let bits: u32 = match of {
        Arg::In(value) => value.ty.width(),
        Arg::List(items) => items.iter().map(|item| item.value.ty.width()).sum(),
        _ => return None,
    };
    let size = if octets { bits.div_ceil(8) } else { bits };
    let ty = call.result.as_ref()?.ty;
    result(c, call, &Expr::constant(size, ty))
}

/// `is_validated(field)` of a header or a field of it: whether the header is valid.
pub fn is_validated(c: &mut Lowering<'_>, call: &ExternCall, field: &Arg) -> Option<()> {
    let valid = match field {
        Arg::List(items) => items.first().and_then(|item| item.valid.clone()),
        _ => None,
    };
    match valid {
        Some(place) => result(c, call, &Expr::load(place)),
        None => {
            c.error("`is_validated` is of a header; the engine does not note which metadata was written");
            Some(())
        }
    }
}

/// `Random.get()`.
pub fn random(c: &mut Lowering<'_>, call: &ExternCall) -> Option<()> {
    let Some(place) = &call.result else {
        return Some(());
    };
    let limit = |value: BigUint| Arg::In(Expr::constant(value, place.ty));
    let most = (BigUint::from(1_u8) << place.ty.width()) - 1_u8;
    c.random(&Arg::Out(place.clone()), &limit(0_u8.into()), &limit(most))
}

/// `invalidate(field)`: a header becomes invalid; a field becomes 0, and the egress port becomes none.
pub fn invalidate(c: &mut Lowering<'_>, field: &Arg) -> Option<()> {
    match field {
        Arg::In(Expr {
            kind: ExprKind::Load(place),
            ..
        }) => {
            let value = if is_port(c, place) { ports::NONE } else { 0 };
            c.assign(place, &Expr::constant(value, place.ty));
            Some(())
        }
        Arg::List(items) => {
            let valid: Place = items.first()?.valid.clone()?;
            c.assign(&valid, &Expr::constant(0_u8, Scalar::Bool));
            Some(())
        }
        _ => None,
    }
}

/// Whether a place is the port to which ingress sends the packet.
fn is_port(c: &mut Lowering<'_>, place: &Place) -> bool {
    let (slot, _) = c.location(&place.at);
    let params = c.program().blocks.iter().flat_map(|block| &block.params);
    params.into_iter().any(|param| {
        let field = c.metadata_field(param, "ucast_egress_port");
        field.slot == slot
    })
}

/// Stores a value of the program as the result.
fn result(c: &mut Lowering<'_>, call: &ExternCall, value: &Expr) -> Option<()> {
    if let Some(place) = &call.result {
        c.assign(place, value);
    }
    Some(())
}
