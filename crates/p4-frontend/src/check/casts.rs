//! Explicit conversions.

use super::{Checker, Facts};
use crate::ast;
use crate::hir::{Expr, NamedKind, Ty};
use crate::span::Span;
use num_traits::{One, Zero};

impl<'a> Checker<'a> {
    pub(super) fn cast(&mut self, ty: &'a ast::Type, operand: &'a ast::Expr, span: Span) -> Expr {
        let to = self.ty_to_infer(ty);
        let operand = self.value(operand);
        if operand.ty.is_error() || to.is_error() {
            return Expr::error(span);
        }
        self.infer(&to, &operand.ty.clone());
        let to = self.known(&to);
        let from = operand.ty.clone();
        let moved = |mut e: Expr| {
            e.span = span;
            e
        };
        if from == to {
            return moved(operand);
        }
        let structural = matches!(
            from,
            Ty::ListExpr(_) | Ty::StructExpr(_) | Ty::Invalid | Ty::Defaults
        );
        if structural {
            return moved(self.coerce(operand, &to, "what is converted"));
        }
        if let (Some(value), Ty::Bool) = (operand.int_value(), &to) {
            let one_bit = value.is_zero() || value.is_one();
            if from == Ty::Int && one_bit {
                return moved(self.cast_to(operand, &to));
            }
        }
        if from == Ty::Int && matches!(to, Ty::Bit(_) | Ty::Signed(_)) {
            return moved(self.cast_to(operand, &to));
        }
        if to == Ty::Int && from.is_numeric() && !operand.is_known() {
            // Nothing without a width can be computed at run time: the value keeps its own width.
            return moved(operand);
        }
        if self.may_cast(&from, &to) || (to == Ty::Int && from.is_numeric()) {
            return moved(self.cast_step(operand, &to));
        }
        self.error(
            "bad-cast",
            span,
            format!("a value of type `{from}` cannot be converted to `{to}`"),
            "not a valid conversion",
        );
        Expr::error(span)
    }
}

impl<'a> Facts<'a> {
    /// Like [`coerce`](Self::coerce), for the value that a declaration or an assignment stores. There p4c also accepts
    /// a number without width for a value of a `type`, and a constant with width for an `int`.
    pub(super) fn coerce_stored(&mut self, expr: Expr, wanted: &Ty, what: &str) -> Expr {
        let wanted = self.known(wanted);
        let number = self.known(&expr.ty) == Ty::Int && wanted.is(NamedKind::New);
        if number && self.may_cast(&Ty::Int, &wanted) {
            return self.cast_step(expr, &wanted);
        }
        if wanted == Ty::Int && expr.ty.width().is_some() && expr.int_value().is_some() {
            return self.cast_to(expr, &wanted);
        }
        self.coerce(expr, &wanted, what)
    }

    /// Converts through the underlying types of serialisable enums and `type`s.
    fn cast_step(&mut self, operand: Expr, to: &Ty) -> Expr {
        let over = |c: &Self, ty: &Ty| {
            let named = ty.is(NamedKind::SerialisableEnum) || ty.is(NamedKind::New);
            named.then(|| c.hir.underlying(ty)).flatten()
        };
        if let Some(under) = over(self, &operand.ty) {
            let inner = self.cast_to(operand, &under);
            if inner.ty == *to {
                return inner;
            }
            return self.cast_step(inner, to);
        }
        if let Some(under) = over(self, to) {
            let inner = if operand.ty == under {
                operand
            } else {
                self.cast_step(operand, &under)
            };
            return self.cast_to(inner, to);
        }
        self.cast_to(operand, to)
    }

    fn may_cast(&self, from: &Ty, to: &Ty) -> bool {
        if from == to {
            return true;
        }
        match (from, to) {
            (Ty::Bit(1), Ty::Bool) | (Ty::Bool, Ty::Bit(1)) => true,
            (Ty::Bit(_), Ty::Bit(_)) | (Ty::Signed(_), Ty::Signed(_)) => true,
            (Ty::Bit(a), Ty::Signed(b)) | (Ty::Signed(a), Ty::Bit(b)) => a == b,
            (Ty::Int, Ty::Bit(_) | Ty::Signed(_)) => true,
            _ => self.may_cast_over(from, to),
        }
    }

    /// Whether a conversion from or to the underlying type of a `type` or serialisable enum is valid.
    fn may_cast_over(&self, from: &Ty, to: &Ty) -> bool {
        let over = |ty: &Ty| {
            let kind = ty.named_kind();
            let named = matches!(kind, Some(NamedKind::SerialisableEnum | NamedKind::New));
            named.then(|| self.hir.underlying(ty)).flatten()
        };
        if let Some(under) = over(to) {
            let exact = to.is(NamedKind::New) && *from != Ty::Int;
            if under == *from || (!exact && self.may_cast(from, &under)) {
                return true;
            }
        }
        match over(from) {
            Some(under) => under == *to || (!to.is(NamedKind::New) && self.may_cast(&under, to)),
            None => false,
        }
    }
}
