//! Scalar expressions.

use super::callee::Given;
use super::ir::{constant, ir_bool, ir_not, load, minus_one, next_index};
use super::{Body, Object};
use crate::ast;
use crate::hir::{Expr, ExprKind, Ty, Value};
use num_traits::{Signed, ToPrimitive};
use p4_ir::{ExprKind as IrKind, Place, Scalar, StmtKind, UnaryOp};

impl Body<'_, '_, '_> {
    /// The value of a scalar expression. Emits code that must run before it.
    pub(super) fn scalar(&mut self, expr: &Expr) -> p4_ir::Expr {
        let ty = self.ty(&expr.ty);
        let Some(scalar) = self.scalar_type(&ty) else {
            if !ty.is_error() {
                self.unsupported(expr.span, &format!("a value of type `{ty}` here"));
            }
            return ir_bool(false);
        };
        if let Some(value) = self.known(expr) {
            return constant(&value, scalar);
        }
        let kind = match &expr.kind {
            ExprKind::LastIndex(stack) => return self.last_index(stack),
            ExprKind::Target => {
                let none = p4_ir::Expr::constant(0u32, scalar);
                return self.target.clone().unwrap_or(none);
            }
            ExprKind::Slice { of, hi, lo } => IrKind::Slice {
                of: Box::new(self.scalar(of)),
                hi: *hi,
                lo: *lo,
            },
            ExprKind::Unary(op, of) => {
                let of = self.scalar(of);
                match op {
                    ast::UnaryOp::Not => return ir_not(of),
                    ast::UnaryOp::Plus => return of,
                    ast::UnaryOp::Complement => IrKind::Unary(UnaryOp::BitNot, Box::new(of)),
                    ast::UnaryOp::Minus => IrKind::Unary(UnaryOp::Neg, Box::new(of)),
                }
            }
            ExprKind::Binary(first, rest) => return self.operations(first, rest, expr.span),
            ExprKind::Conditional(arms, otherwise) => {
                return self.conditional(arms, otherwise, scalar, expr);
            }
            ExprKind::Cast(of) => {
                let of = self.scalar(of);
                if of.ty == scalar {
                    return of;
                }
                IrKind::Cast(Box::new(of))
            }
            ExprKind::TableHit { table, miss } => {
                let hit = self.apply_for_hit(*table, expr.span);
                return if *miss { ir_not(hit) } else { hit };
            }
            ExprKind::Call(call) => {
                return match self.call(call, &ty, expr.span) {
                    Given::Scalar(value) => value,
                    Given::At(at) => load(&at, scalar),
                    Given::Nothing => ir_bool(false),
                };
            }
            ExprKind::Var(_)
            | ExprKind::Field(..)
            | ExprKind::Element(..)
            | ExprKind::Index(..)
            | ExprKind::Next(_)
            | ExprKind::Last(_) => {
                let at = self.materialise(expr);
                return load(&at, scalar);
            }
            _ => {
                self.unsupported(expr.span, "this expression here");
                return p4_ir::Expr::constant(0u32, scalar);
            }
        };
        p4_ir::Expr { kind, ty: scalar }
    }

    fn last_index(&mut self, stack: &Expr) -> p4_ir::Expr {
        let at = self.materialise(stack);
        let next = p4_ir::Expr::load(next_index(&at));
        minus_one(next)
    }

    /// The amount of a shift.
    pub(super) fn amount(&mut self, amount: &Expr) -> p4_ir::Expr {
        if let Some(Value::Int(by)) = self.known(amount) {
            let by = if by.is_negative() {
                0
            } else {
                by.to_u32().unwrap_or(u32::MAX)
            };
            return p4_ir::Expr::constant(by, Scalar::Bit(32));
        }
        self.scalar(amount)
    }

    fn conditional(
        &mut self,
        arms: &[(Expr, Expr)],
        otherwise: &Expr,
        ty: Scalar,
        whole: &Expr,
    ) -> p4_ir::Expr {
        if whole.operands().skip(1).any(Expr::has_effects) {
            let over = self.ty(&whole.ty);
            let at = self.temporary(&over, whole.span);
            self.store(&at, &over, whole);
            return load(&at, ty);
        }
        self.mux(arms, otherwise, ty)
    }

    /// Applies a table. Returns whether an entry matched.
    fn apply_for_hit(&mut self, table: ast::DeclId, span: crate::span::Span) -> p4_ir::Expr {
        let at = self.temporary(&Ty::Bool, span);
        let hit = Place {
            at,
            ty: Scalar::Bool,
        };
        self.apply_table(table, Some(hit.clone()), None, span);
        p4_ir::Expr::load(hit)
    }

    pub(super) fn apply_table(
        &mut self,
        table: ast::DeclId,
        hit: Option<Place>,
        action_run: Option<Place>,
        span: crate::span::Span,
    ) {
        let Some(super::Binding::Object(Object::Table(instance))) = self.binding(table).cloned()
        else {
            self.unsupported(span, "this table here");
            return;
        };
        for statement in &instance.prepare {
            self.emit(statement.kind.clone());
        }
        self.before_call(instance.soft);
        self.emit(StmtKind::Apply {
            table: instance.id,
            hit,
            action_run,
        });
        self.after_call(instance.soft);
    }
}
