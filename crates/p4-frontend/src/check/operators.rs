//! Unary and binary operators.

use super::{Checker, Facts, constants, infer};
use crate::ast::{self, BinaryOp, UnaryOp};
use crate::diagnostic::Diagnostic;
use crate::hir::{Expr, ExprKind, NamedKind, Operation, Ty, Value};
use crate::span::Span;
use num_bigint::BigInt;
use num_traits::{Signed, Zero};

impl<'a> Checker<'a> {
    pub(super) fn unary(&mut self, op: UnaryOp, operand: &'a ast::Expr, span: Span) -> Expr {
        let operand = self.value(operand);
        if operand.ty.is_error() {
            return Expr::error(span);
        }
        let operand = self.promoted(operand);
        let (valid, expected) = match op {
            UnaryOp::Not => (operand.ty == Ty::Bool, "expected bool"),
            UnaryOp::Complement => (operand.ty.width().is_some(), "expected bit<W> or int<W>"),
            UnaryOp::Minus | UnaryOp::Plus => {
                (operand.ty.is_numeric(), "expected bit<W>, int<W> or int")
            }
        };
        if !valid {
            self.error(
                "type-mismatch",
                operand.span,
                format!("`{}` is not defined on `{}`", op.symbol(), operand.ty),
                expected,
            );
            return Expr::error(span);
        }
        let ty = operand.ty.clone();
        let folded = operand.value().and_then(|v| constants::unary(op, v, &ty));
        let kind = match folded {
            Some(value) => ExprKind::Const(value),
            None if op == UnaryOp::Plus => operand.kind,
            None => ExprKind::Unary(op, Box::new(operand)),
        };
        Expr { kind, ty, span }
    }
}

impl<'a> Facts<'a> {
    /// Converts a serialisable enum to its underlying type.
    fn promoted(&mut self, expr: Expr) -> Expr {
        if !expr.ty.is(NamedKind::SerialisableEnum) {
            return expr;
        }
        match self.hir.underlying(&expr.ty) {
            Some(under) => self.cast_to(expr, &under),
            None => expr,
        }
    }

    pub(super) fn binary(&mut self, op: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
        if left.ty.is_error() || right.ty.is_error() {
            return Expr::error(span);
        }
        let typed = match op {
            BinaryOp::And | BinaryOp::Or => self.logical(op, left, right),
            BinaryOp::Eq | BinaryOp::Ne => self.equality(op, left, right, span),
            BinaryOp::Shl | BinaryOp::Shr => self.shift(op, left, right),
            BinaryOp::Concat => self.concat(left, right),
            _ => self.arithmetic(op, left, right, span),
        };
        let Some((left, right, ty)) = typed else {
            return Expr::error(span);
        };
        self.folded(op, left, right, ty, span)
    }

    fn folded(&mut self, op: BinaryOp, left: Expr, right: Expr, ty: Ty, span: Span) -> Expr {
        let division = matches!(op, BinaryOp::Div | BinaryOp::Mod);
        let by_shift = right.int_value().is_some_and(is_power_of_two);
        let of_zero = left.int_value().is_some_and(Zero::is_zero);
        if division && !(by_shift || of_zero || (left.is_known() && right.is_known())) {
            self.report(
                Diagnostic::error(
                    "not-constant",
                    format!("`{}` cannot be computed at run time", op.symbol()),
                )
                .label(span, "not known at compile time")
                .note("allowed are constants, and constant powers of two on the right"),
            );
            return Expr::error(span);
        }
        let zero = right.int_value().is_some_and(|v| !v.is_positive());
        if matches!(op, BinaryOp::Div | BinaryOp::Mod) && zero {
            self.error(
                "bad-operation",
                span,
                format!(
                    "`{}` by {}",
                    op.symbol(),
                    right.int_value().expect("constant")
                ),
                "expected a positive number",
            );
            return Expr::error(span);
        }
        let value = match (left.value(), right.value()) {
            (Some(a), Some(b)) => constants::binary(op, (a, &left.ty), (b, &right.ty), &ty),
            (Some(Value::Bool(false)), None) if op == BinaryOp::And => Ok(Some(Value::Bool(false))),
            (Some(Value::Bool(true)), None) if op == BinaryOp::Or => Ok(Some(Value::Bool(true))),
            _ => Ok(None),
        };
        match value {
            Ok(Some(value)) => Expr::constant(value, ty, span),
            Ok(None) => chained(op, left, right, ty, span),
            Err(why) => {
                self.error("bad-operation", span, why, "cannot be computed");
                Expr::error(span)
            }
        }
    }

    fn operand_error(&mut self, op: BinaryOp, operand: &Expr, expected: &str) {
        self.error(
            "type-mismatch",
            operand.span,
            format!("`{}` is not defined on `{}`", op.symbol(), operand.ty),
            format!("expected {expected}"),
        );
    }

    fn logical(&mut self, op: BinaryOp, left: Expr, right: Expr) -> Option<(Expr, Expr, Ty)> {
        for operand in [&left, &right] {
            if operand.ty != Ty::Bool {
                self.operand_error(op, operand, "bool");
                return None;
            }
        }
        Some((left, right, Ty::Bool))
    }

    /// Converts two operands to one type: an `int` takes the other's type, and a serialisable enum its underlying type.
    fn agreed(
        &mut self,
        op: BinaryOp,
        left: Expr,
        right: Expr,
        span: Span,
    ) -> Option<(Expr, Expr)> {
        if left.ty == right.ty {
            return Some((left, right));
        }
        let left = self.promoted(left);
        let right = self.promoted(right);
        match (&left.ty, &right.ty) {
            (a, b) if a == b => Some((left, right)),
            (Ty::Int, Ty::Bit(_) | Ty::Signed(_)) => {
                let ty = right.ty.clone();
                Some((self.sized(left, &ty), right))
            }
            (Ty::Bit(_) | Ty::Signed(_), Ty::Int) => {
                let ty = left.ty.clone();
                let right = self.sized(right, &ty);
                Some((left, right))
            }
            (a, b) => {
                let message = format!(
                    "the operands of `{}` are of two types, `{a}` and `{b}`",
                    op.symbol()
                );
                let help = match (a.width(), b.width()) {
                    (Some(_), Some(_)) => Some(format!("convert one of them: `({a})`")),
                    _ => None,
                };
                let mut diagnostic = Diagnostic::error("operand-types", message)
                    .label(span, "expected one type")
                    .label(left.span, format!("`{a}`"))
                    .label(right.span, format!("`{b}`"));
                diagnostic.help = help;
                self.report(diagnostic);
                None
            }
        }
    }

    fn equality(
        &mut self,
        op: BinaryOp,
        left: Expr,
        right: Expr,
        span: Span,
    ) -> Option<(Expr, Expr, Ty)> {
        let shapeless = |ty: &Ty| {
            matches!(
                ty,
                Ty::ListExpr(_) | Ty::StructExpr(_) | Ty::Invalid | Ty::Defaults
            )
        };
        let (left, right) = match (shapeless(&left.ty), shapeless(&right.ty)) {
            (true, false) => {
                let ty = right.ty.clone();
                (self.coerce(left, &ty, "the left operand"), right)
            }
            (false, true) => {
                let ty = left.ty.clone();
                let right = self.coerce(right, &ty, "the right operand");
                (left, right)
            }
            (true, true) => {
                if let (Ty::StructExpr(_), _) | (_, Ty::StructExpr(_)) = (&left.ty, &right.ty) {
                    self.error(
                        "unknown-type",
                        span,
                        "values with named fields cannot be compared while their type is not known",
                        "give one of them a type, as in `(S) { … }`",
                    );
                    return None;
                }
                (infer::settle(left), infer::settle(right))
            }
            (false, false) => self.agreed(op, left, right, span)?,
        };
        if left.ty.is_error() || right.ty.is_error() {
            return None;
        }
        let incomparable = left.ty.is_object()
            || matches!(
                left.ty,
                Ty::Action | Ty::Function | Ty::Void | Ty::ApplyResult(..) | Ty::Param(..)
            );
        if incomparable {
            self.operand_error(op, &left, "values that can be compared");
            return None;
        }
        if left.ty != right.ty {
            self.mismatch(right.span, &left.ty, &right.ty, "the right operand");
            return None;
        }
        Some((left, right, Ty::Bool))
    }

    fn shift(&mut self, op: BinaryOp, left: Expr, right: Expr) -> Option<(Expr, Expr, Ty)> {
        let left = self.promoted(left);
        let right = self.promoted(right);
        if !left.ty.is_numeric() {
            self.operand_error(op, &left, "bit<W>, int<W> or int");
            return None;
        }
        if !right.ty.is_numeric() {
            self.operand_error(op, &right, "bit<W> or int");
            return None;
        }
        if right.int_value().is_some_and(Signed::is_negative) {
            self.error(
                "bad-operation",
                right.span,
                "a shift by a negative amount",
                "expected 0 or more",
            );
            return None;
        }
        if matches!(right.ty, Ty::Signed(_)) && right.value().is_none() {
            self.operand_error(op, &right, "an unsigned amount");
            return None;
        }
        if left.ty == Ty::Int && !right.is_known() {
            self.error(
                "unknown-width",
                left.span,
                "the width of this value is not known",
                "give it a width, as in `8w1`",
            );
            return None;
        }
        let ty = left.ty.clone();
        Some((left, right, ty))
    }

    fn concat(&mut self, left: Expr, right: Expr) -> Option<(Expr, Expr, Ty)> {
        if left.ty == Ty::String && right.ty == Ty::String {
            return Some((left, right, Ty::String));
        }
        let left = self.promoted(left);
        let right = self.promoted(right);
        for operand in [&left, &right] {
            if operand.ty.width().is_none() {
                self.operand_error(BinaryOp::Concat, operand, "a width: bit<W> or int<W>");
                return None;
            }
        }
        let width = left.ty.width()?.saturating_add(right.ty.width()?);
        let ty = match left.ty {
            Ty::Signed(_) => Ty::Signed(width),
            _ => Ty::Bit(width),
        };
        Some((left, right, ty))
    }

    fn arithmetic(
        &mut self,
        op: BinaryOp,
        left: Expr,
        right: Expr,
        span: Span,
    ) -> Option<(Expr, Expr, Ty)> {
        let left = self.promoted(left);
        let right = self.promoted(right);
        let saturating = matches!(op, BinaryOp::SatAdd | BinaryOp::SatSub);
        let expected = if saturating {
            "bit<W> or int<W>"
        } else {
            "bit<W>, int<W> or int"
        };
        for operand in [&left, &right] {
            if !operand.ty.is_numeric() {
                self.operand_error(op, operand, expected);
                return None;
            }
        }
        let (left, right) = self.agreed(op, left, right, span)?;
        if saturating && left.ty == Ty::Int {
            self.operand_error(op, &left, expected);
            return None;
        }
        if matches!(op, BinaryOp::Div | BinaryOp::Mod) && matches!(left.ty, Ty::Signed(_)) {
            self.operand_error(op, &left, "bit<W> or int");
            return None;
        }
        let comparison = matches!(
            op,
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge
        );
        let ty = if comparison {
            Ty::Bool
        } else {
            left.ty.clone()
        };
        Some((left, right, ty))
    }
}

/// `left op right`, merged into the chain of operators of `left`.
fn chained(op: BinaryOp, left: Expr, right: Expr, ty: Ty, span: Span) -> Expr {
    let operation = Operation {
        op,
        right,
        ty: ty.clone(),
    };
    let (first, rest) = match left.kind {
        ExprKind::Binary(first, mut rest) => {
            rest.push(operation);
            (first, rest)
        }
        _ => (Box::new(left), vec![operation]),
    };
    Expr {
        kind: ExprKind::Binary(first, rest),
        ty,
        span,
    }
}

fn is_power_of_two(value: &BigInt) -> bool {
    value.is_positive() && value.trailing_zeros() == Some(value.bits() - 1)
}
