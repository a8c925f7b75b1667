//! Evaluation at compile time, when the constructors' arguments are known.

use super::ir::scalar_type;
use super::{Binding, Env, Scope};
use crate::ast::DeclId;
use crate::check::constants as fold;
use crate::hir::{self, Expr, ExprKind, Operation, Ty, Value};
use num_bigint::BigInt;
use num_traits::{ToPrimitive, Zero};
use p4_ir::Scalar;

/// Evaluates expressions at compile time. It reads names and changes nothing.
#[derive(Clone, Copy)]
pub(super) struct Known<'k, 'h, 'a> {
    pub hir: &'h hir::Program<'a>,
    /// Names at the position of the expression.
    pub env: &'k Env,
    /// Names at the top level.
    pub globals: &'k Env,
}

impl<'k> Known<'k, '_, '_> {
    fn ty(&self, ty: &Ty) -> Ty {
        ty.substitute(&self.env.types)
    }

    pub(super) fn binding(&self, id: DeclId) -> Option<&'k Binding> {
        let own = self.env.bindings.get(&id);
        own.or_else(|| self.globals.bindings.get(&id))
    }

    /// The scalar value of an expression, if it is known.
    pub(super) fn known(&self, expr: &Expr) -> Option<Value> {
        let ty = self.ty(&expr.ty);
        match &expr.kind {
            ExprKind::Const(value) => Some(value.clone()),
            ExprKind::ConstructorParam(_) => self.known(self.constructor_argument(expr)?),
            ExprKind::Cast(of) => fold::cast(&self.known(of)?, &self.over(&ty)),
            ExprKind::Unary(op, of) => fold::unary(*op, &self.known(of)?, &ty),
            ExprKind::Binary(first, rest) => {
                let first = (self.known(first)?, self.ty(&first.ty));
                let apply = |left, operation| self.known_operation(left, operation);
                Some(rest.iter().try_fold(first, apply)?.0)
            }
            ExprKind::Slice { of, hi, lo } => match self.known(of)? {
                Value::Int(value) => Some(Value::Int(fold::slice(&value, *hi, *lo))),
                _ => None,
            },
            ExprKind::Conditional(arms, otherwise) => {
                for (condition, then) in arms {
                    if self.known(condition)? == Value::Bool(true) {
                        return self.known(then);
                    }
                }
                self.known(otherwise)
            }
            ExprKind::Field(of, i) | ExprKind::Element(of, i) => {
                let of = self.constructor_argument(of).unwrap_or(of);
                match &of.kind {
                    ExprKind::List(members) => self.known(members.get(*i)?),
                    _ => None,
                }
            }
            ExprKind::Index(of, index) => {
                let of = self.constructor_argument(of).unwrap_or(of);
                let (ExprKind::List(members), Value::Int(index)) = (&of.kind, self.known(index)?)
                else {
                    return None;
                };
                self.known(members.get(index.to_usize()?)?)
            }
            ExprKind::Defaults => match scalar_type(self.hir, &ty)? {
                Scalar::Bool => Some(Value::Bool(false)),
                Scalar::Symbol => Some(Value::Symbol(0)),
                _ => Some(Value::Int(BigInt::zero())),
            },
            _ => None,
        }
    }

    /// The result of an operator and its type, if both operands are known.
    pub(super) fn known_operation(
        &self,
        (left, left_ty): (Value, Ty),
        operation: &Operation,
    ) -> Option<(Value, Ty)> {
        let right = self.known(&operation.right)?;
        let (right_ty, ty) = (self.ty(&operation.right.ty), self.ty(&operation.ty));
        let value = fold::binary(operation.op, (&left, &left_ty), (&right, &right_ty), &ty);
        Some((value.ok()??, ty))
    }

    /// The underlying type of a `type` or serialisable enum.
    fn over(&self, ty: &Ty) -> Ty {
        match self.hir.underlying(ty) {
            Some(under) => self.over(&under),
            None => ty.clone(),
        }
    }

    /// The argument of a constructor's parameter.
    pub(super) fn constructor_argument(&self, expr: &Expr) -> Option<&'k Expr> {
        let ExprKind::ConstructorParam(id) = &expr.kind else {
            return None;
        };
        match self.binding(*id)? {
            Binding::Known(value) => Some(value),
            _ => None,
        }
    }
}

impl Scope<'_, '_, '_> {
    /// An integer that must be known. Reports one that is not.
    fn known_int(&mut self, expr: &Expr, what: &str) -> Option<BigInt> {
        if let Some(Value::Int(value)) = self.known(expr) {
            return Some(value);
        }
        self.error(
            "not-constant",
            expr.span,
            format!("{what} must be an integer known at compile time"),
        );
        None
    }

    /// The same, within 64 bits.
    pub(super) fn known_u64(&mut self, expr: &Expr, what: &str) -> Option<u64> {
        let value = self.known_int(expr, what)?;
        let small = value.to_u64();
        if small.is_none() {
            self.error("bad-number", expr.span, format!("{what} cannot be {value}"));
        }
        small
    }
}
