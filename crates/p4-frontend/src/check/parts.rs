//! Parts of values: elements of stacks and tuples, bits.

use super::{Checker, Facts, constants};
use crate::ast;
use crate::hir::{Expr, ExprKind, NamedKind, Ty, Value};
use crate::span::Span;
use num_bigint::BigInt;
use num_traits::ToPrimitive;

/// A member of a tuple.
pub(super) fn element(base: Expr, i: usize, ty: Ty, span: Span) -> Expr {
    match base.kind {
        ExprKind::List(mut members) if members.iter().all(|m| !m.has_effects()) => Expr {
            span,
            ..members.swap_remove(i)
        },
        kind => Expr {
            kind: ExprKind::Element(Box::new(Expr { kind, ..base }), i),
            ty,
            span,
        },
    }
}

impl<'a> Checker<'a> {
    pub(super) fn index(&mut self, base: &'a ast::Expr, index: &'a ast::Expr, span: Span) -> Expr {
        let base = self.expr(base);
        let index = self.expr(index);
        if base.ty.is_error() || index.ty.is_error() {
            return Expr::error(span);
        }
        let index = match self.hir.underlying(&index.ty) {
            Some(under) if index.ty.is(NamedKind::SerialisableEnum) => self.cast_to(index, &under),
            _ => index,
        };
        if !index.ty.is_numeric() {
            let found = index.ty.clone();
            self.error(
                "type-mismatch",
                index.span,
                "an index must be of type bit<W>, int<W> or int",
                format!("found `{found}`"),
            );
            return Expr::error(span);
        }
        let known = index.int_value().cloned();
        match base.ty.clone() {
            Ty::Stack(of, len) => {
                if !self.index_within(known.as_ref(), len as usize, index.span) {
                    return Expr::error(span);
                }
                if let (Some(i), ExprKind::List(members)) =
                    (known.and_then(|k| k.to_usize()), &base.kind)
                    && i < members.len()
                {
                    return element(base, i, (*of).clone(), span);
                }
                Expr {
                    kind: ExprKind::Index(Box::new(base), Box::new(index)),
                    ty: (*of).clone(),
                    span,
                }
            }
            Ty::Tuple(members) | Ty::ListExpr(members) => {
                let Some(known) = known else {
                    self.error(
                        "not-constant",
                        index.span,
                        "the index of a tuple's member must be known at compile time",
                        "not constant",
                    );
                    return Expr::error(span);
                };
                if !self.index_within(Some(&known), members.len(), index.span) {
                    return Expr::error(span);
                }
                let i = known.to_usize().unwrap_or(0);
                element(base, i, members[i].clone(), span)
            }
            Ty::List(of) => match (known.and_then(|k| k.to_usize()), &base.kind) {
                (Some(i), ExprKind::List(members)) if i < members.len() => {
                    element(base, i, (*of).clone(), span)
                }
                _ => {
                    self.error(
                        "not-constant",
                        index.span,
                        "the index into a list must be known and within it",
                        "not valid",
                    );
                    Expr::error(span)
                }
            },
            other => {
                self.error(
                    "not-indexable",
                    base.span,
                    format!("a value of type `{other}` has no elements"),
                    "expected an array or a tuple",
                );
                Expr::error(span)
            }
        }
    }

    pub(super) fn slice(
        &mut self,
        base: &'a ast::Expr,
        high: &'a ast::Expr,
        low: &'a ast::Expr,
        span: Span,
    ) -> Expr {
        let of = self.sliceable(base);
        let hi = self.constant_u32(high, "a bit's number");
        let lo = self.constant_u32(low, "a bit's number");
        let (Some(of), Some(hi), Some(lo)) = (of, hi, lo) else {
            return Expr::error(span);
        };
        if hi < lo {
            self.error(
                "bad-slice",
                high.span.to(low.span),
                format!("the slice [{hi}:{lo}] ends before it starts"),
                "the more significant bit comes first",
            );
            return Expr::error(span);
        }
        self.bits_of(of, hi, lo, high.span, span)
    }

    fn sliceable(&mut self, base: &'a ast::Expr) -> Option<Expr> {
        let of = self.expr(base);
        if of.ty.is_error() {
            return None;
        }
        let of = match self.hir.underlying(&of.ty) {
            Some(under) if of.ty.is(NamedKind::SerialisableEnum) => self.cast_to(of, &under),
            _ => of,
        };
        if of.ty.width().is_some() || (of.ty == Ty::Int && of.is_known()) {
            return Some(of);
        }
        self.error(
            "type-mismatch",
            of.span,
            format!("a value of type `{}` has no bits to take", of.ty),
            "expected bit<W> or int<W>",
        );
        None
    }

    pub(super) fn width_slice(
        &mut self,
        base: &'a ast::Expr,
        low: &'a ast::Expr,
        width: &'a ast::Expr,
        span: Span,
    ) -> Expr {
        let of = self.sliceable(base);
        let lo = self.expr(low);
        let bits = self.constant_u32(width, "a slice's width");
        let (Some(of), Some(bits)) = (of, bits) else {
            return Expr::error(span);
        };
        if lo.ty.is_error() {
            return Expr::error(span);
        }
        if bits == 0 {
            self.error(
                "bad-slice",
                width.span,
                "a slice of no bits",
                "expected 1 or more",
            );
            return Expr::error(span);
        }
        match lo.int_value().map(BigInt::to_u32) {
            Some(Some(lo)) if lo <= u32::MAX - bits => {
                self.bits_of(of, lo + bits - 1, lo, span, span)
            }
            Some(_) => {
                self.error(
                    "bad-slice",
                    low.span,
                    "not a valid bit's number",
                    "out of range",
                );
                Expr::error(span)
            }
            None => {
                let shifted = self.binary(ast::BinaryOp::Shr, of, lo, span);
                if shifted.ty.is_error() {
                    return shifted;
                }
                let bits = Ty::Bit(bits);
                let same_width = Ty::Bit(shifted.ty.width().unwrap_or(1));
                let unsigned = self.cast_to(shifted, &same_width);
                self.cast_to(unsigned, &bits)
            }
        }
    }
}

impl<'a> Facts<'a> {
    fn index_within(&mut self, index: Option<&BigInt>, len: usize, span: Span) -> bool {
        let Some(index) = index else { return true };
        if index.to_usize().is_some_and(|i| i < len) {
            return true;
        }
        self.error(
            "index-out-of-range",
            span,
            format!("index {index} is out of range"),
            format!("expected 0 to {}", len.saturating_sub(1)),
        );
        false
    }

    fn bits_of(&mut self, of: Expr, hi: u32, lo: u32, at: Span, span: Span) -> Expr {
        if let Some(width) = of.ty.width().filter(|w| hi >= *w) {
            self.error(
                "bad-slice",
                at,
                format!("a value of type `{}` has no bit {hi}", of.ty),
                format!("bits are 0 to {}", width.saturating_sub(1)),
            );
            return Expr::error(span);
        }
        let ty = Ty::Bit(hi - lo + 1);
        let kind = match of.int_value() {
            Some(value) => ExprKind::Const(Value::Int(constants::slice(value, hi, lo))),
            None => ExprKind::Slice {
                of: Box::new(of),
                hi,
                lo,
            },
        };
        Expr { kind, ty, span }
    }
}
