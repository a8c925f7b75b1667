//! Sets of values: in a select, and in a table's entries.

use super::Checker;
use crate::ast;
use crate::hir::{Expr, ExprKind, NamedKind, Ty, Value};
use crate::span::Span;

impl<'a> Checker<'a> {
    /// A set of values of type `ty`.
    pub(super) fn keyset(&mut self, expr: &'a ast::Expr, ty: &Ty) -> Expr {
        let span = expr.span;
        match &expr.kind {
            ast::ExprKind::Default | ast::ExprKind::DontCare => any(ty, span),
            ast::ExprKind::Mask { value, mask } => {
                let value = self.masked(value, ty, "a set's value");
                let mask = self.masked(mask, ty, "a mask");
                let ty = value.ty.clone();
                self.set(ExprKind::Mask(value.into(), mask.into()), ty, span)
            }
            ast::ExprKind::Range { low, high } => {
                let low = self.set_member(low, ty, "a range's first value");
                let high = self.set_member(high, ty, "a range's last value");
                let empty = match (low.int_value(), high.int_value()) {
                    (Some(low), Some(high)) => low > high,
                    _ => false,
                };
                if empty {
                    self.error(
                        "empty-range",
                        span,
                        "the range ends before it starts",
                        "holds no value",
                    );
                }
                let ty = low.ty.clone();
                self.set(ExprKind::Range(low.into(), high.into()), ty, span)
            }
            ast::ExprKind::List(list) if list.rest.is_none() => {
                let Some(members) = self.hir.members(ty) else {
                    // `{ a }` for one key is `a`.
                    return match list.elements.as_slice() {
                        [only] => self.keyset(only, ty),
                        _ => self.set_member(expr, ty, "a set's value"),
                    };
                };
                if members.len() != list.elements.len() {
                    self.error(
                        "wrong-length",
                        span,
                        format!("`{ty}` has {} members", members.len()),
                        format!("found {}", list.elements.len()),
                    );
                    return Expr::error(span);
                }
                let sets = list.elements.iter().zip(&members);
                let sets = sets.map(|(e, ty)| self.keyset(e, ty)).collect();
                Expr {
                    kind: ExprKind::List(sets),
                    ty: ty.clone(),
                    span,
                }
            }
            _ => self.set_member(expr, ty, "a set's value"),
        }
    }

    /// The types of one value that a type is made of.
    pub(super) fn leaves(&self, ty: &Ty) -> Vec<Ty> {
        match self.hir.members(ty) {
            Some(members) => members.iter().flat_map(|m| self.leaves(m)).collect(),
            None => vec![ty.clone()],
        }
    }

    fn set(&mut self, kind: ExprKind, ty: Ty, span: Span) -> Expr {
        if ty.is_error() {
            return Expr::error(span);
        }
        if let ExprKind::Mask(a, b) | ExprKind::Range(a, b) = &kind
            && !(a.is_known() && b.is_known())
        {
            self.error(
                "not-constant",
                span,
                "the ends of a range, and a mask, must be known at compile time",
                "only known when packets come",
            );
            return Expr::error(span);
        }
        Expr { kind, ty, span }
    }

    /// A value or mask; of a serialisable enum also as a number.
    fn masked(&mut self, expr: &'a ast::Expr, ty: &Ty, what: &str) -> Expr {
        let over = match self.hir.underlying(ty) {
            Some(over) if ty.is(NamedKind::SerialisableEnum) => over,
            _ => return self.set_member(expr, ty, what),
        };
        let found = self.set_member(expr, &over, what);
        self.cast_to(found, ty)
    }

    fn set_member(&mut self, expr: &'a ast::Expr, ty: &Ty, what: &str) -> Expr {
        let found = self.expr(expr);
        let found = match (&found.ty, ty) {
            (Ty::Set(of), _) if self.leaves(of) == self.leaves(ty) => return found,
            (Ty::Int, Ty::Bit(_) | Ty::Signed(_)) => {
                let negative = matches!(found.value(), Some(Value::Int(v)) if v.sign() == num_bigint::Sign::Minus);
                if negative && matches!(ty, Ty::Bit(_)) {
                    self.cast_to(found, ty)
                } else {
                    found
                }
            }
            _ => found,
        };
        self.coerce(found, ty, what)
    }
}

/// Every value of the type.
pub(super) fn any(ty: &Ty, span: Span) -> Expr {
    Expr {
        kind: ExprKind::Any,
        ty: ty.clone(),
        span,
    }
}
