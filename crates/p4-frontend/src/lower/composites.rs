//! Composite values: headers, structs, stacks and other arrays, unions, tuples.

use super::Body;
use super::callee::Given;
use super::ir::{NOWHERE, ir_binary, ir_bool, ir_not, load, part, validity};
use crate::hir::{Expr, ExprKind, NamedKind, Ty};
use p4_ir::{BinaryOp, Location, Place, Scalar, StmtKind};

impl Body<'_, '_, '_> {
    /// The location of the value of an expression. A computed value is stored in a variable.
    pub(super) fn materialise(&mut self, expr: &Expr) -> Location {
        if let Some(at) = self.location(expr) {
            return at;
        }
        let ty = self.ty(&expr.ty);
        match &expr.kind {
            ExprKind::Field(of, i) | ExprKind::Element(of, i) => {
                let at = self.materialise(of);
                let of_ty = self.ty(&of.ty);
                part(&at, &of_ty, *i)
            }
            ExprKind::Index(of, index) => {
                let at = self.materialise(of);
                match self.element_at(at, of, index) {
                    Some(at) => at,
                    None => {
                        self.unsupported(expr.span, "this index");
                        NOWHERE
                    }
                }
            }
            ExprKind::Var(_) | ExprKind::Next(_) | ExprKind::Last(_) => {
                self.unsupported(expr.span, "this variable here");
                NOWHERE
            }
            _ => {
                let at = self.temporary(&ty, expr.span);
                self.store(&at, &ty, expr);
                at
            }
        }
    }

    /// Stores the value of an expression of type `ty`.
    pub(super) fn store(&mut self, to: &Location, ty: &Ty, value: &Expr) {
        if ty.is_error() {
            return;
        }
        match &value.kind {
            ExprKind::Conditional(arms, otherwise) if self.needs_branch(ty, value) => {
                let conditions: Vec<_> = arms.iter().map(|(c, _)| (c, None)).collect();
                return self.branches(&conditions, &mut |l, arm| {
                    let chosen = arm.map_or(&**otherwise, |arm| &arms[arm].1);
                    l.store(to, ty, chosen);
                });
            }
            ExprKind::Call(call) => {
                let given = self.call(call, ty, value.span);
                self.store_given(to, ty, given);
                return;
            }
            _ => {}
        }
        if let Some(scalar) = self.scalar_type(ty) {
            let mut value = self.scalar(value);
            if value.ty != scalar {
                value = p4_ir::Expr {
                    kind: p4_ir::ExprKind::Cast(Box::new(value)),
                    ty: scalar,
                };
            }
            let to = Place {
                at: to.clone(),
                ty: scalar,
            };
            self.set(to, value);
            return;
        }
        match &value.kind {
            ExprKind::List(members) => self.store_list(to, ty, members, value),
            ExprKind::Invalid => self.invalidate(to, ty),
            ExprKind::Defaults | ExprKind::Any => self.emit(StmtKind::Clear(to.clone())),
            ExprKind::Cast(of) => self.store(to, ty, of),
            ExprKind::ConstructorParam(_) => {
                match self.constants().constructor_argument(value).cloned() {
                    Some(argument) => self.store(to, ty, &argument),
                    None => self.unsupported(value.span, "this constructor's parameter here"),
                }
            }
            ExprKind::Field(..) | ExprKind::Element(..) | ExprKind::Index(..) => {
                let from = self.materialise(value);
                self.copy(to, &from, ty);
            }
            _ => match self.location(value) {
                Some(from) => self.copy(to, &from, ty),
                None => self.unsupported(value.span, "this value here"),
            },
        }
    }

    fn needs_branch(&self, ty: &Ty, value: &Expr) -> bool {
        self.scalar_type(ty).is_none() || value.operands().skip(1).any(Expr::has_effects)
    }

    fn store_given(&mut self, to: &Location, ty: &Ty, given: Given) {
        match given {
            Given::Scalar(value) => {
                let (at, ty) = (to.clone(), value.ty);
                self.set(Place { at, ty }, value);
            }
            Given::At(from) => self.copy(to, &from, ty),
            Given::Nothing => {}
        }
    }

    /// Copies a whole variable.
    pub(super) fn copy(&mut self, to: &Location, from: &Location, ty: &Ty) {
        if to == from {
            return;
        }
        if let Some(scalar) = self.scalar_type(ty) {
            let (at, ty) = (to.clone(), scalar);
            self.set(Place { at, ty }, load(from, scalar));
            return;
        }
        self.emit(StmtKind::Copy {
            to: to.clone(),
            from: from.clone(),
        });
    }

    fn store_list(&mut self, to: &Location, ty: &Ty, members: &[Expr], value: &Expr) {
        let several = members.len() > 1;
        let dynamic = !to.is_fixed();
        if value.has_effects() || several && (dynamic || self.reads(value, to)) {
            let at = self.temporary(ty, value.span);
            self.store_members(&at, ty, members);
            self.copy(to, &at, ty);
            return;
        }
        self.store_members(to, ty, members);
    }

    fn store_members(&mut self, to: &Location, ty: &Ty, members: &[Expr]) {
        let types = self.hir.members(ty).unwrap_or_default();
        for (i, (member, member_ty)) in members.iter().zip(&types).enumerate() {
            self.store(&part(to, ty, i), member_ty, member);
        }
        if ty.is_header_stack() {
            for (i, member_ty) in types.iter().enumerate().skip(members.len()) {
                self.invalidate(&part(to, ty, i), member_ty);
            }
        }
        if ty.is(NamedKind::Header) {
            self.emit(StmtKind::SetValidity {
                header: to.clone(),
                valid: true,
            });
        }
    }

    /// Makes every header in a variable invalid, and its stacks empty.
    pub(super) fn invalidate(&mut self, at: &Location, ty: &Ty) {
        match ty {
            Ty::Stack(element, len) => {
                if ty.is_header_stack() {
                    self.emit(StmtKind::Clear(at.next_index()));
                }
                for i in 0..*len {
                    self.invalidate(&at.element_at(i), element);
                }
            }
            _ if ty.is(NamedKind::Header) => self.emit(StmtKind::SetValidity {
                header: at.clone(),
                valid: false,
            }),
            Ty::Tuple(_) | Ty::Named(_) => {
                let members = self.hir.members(ty).unwrap_or_default();
                for (i, member) in members.iter().enumerate() {
                    self.invalidate(&part(at, ty, i), member);
                }
            }
            _ => {}
        }
    }

    /// Whether two composite values are equal.
    pub(super) fn equal(&mut self, left: &Expr, right: &Expr) -> p4_ir::Expr {
        let ty = self.ty(&left.ty);
        let a = self.materialise(left);
        let a = if right.has_effects() {
            let kept = self.temporary(&ty, left.span);
            self.copy(&kept, &a, &ty);
            kept
        } else {
            a
        };
        let b = self.materialise(right);
        self.equal_at(&a, &b, &ty)
    }

    fn equal_at(&mut self, a: &Location, b: &Location, ty: &Ty) -> p4_ir::Expr {
        if let Some(scalar) = self.scalar_type(ty) {
            return ir_binary(BinaryOp::Eq, load(a, scalar), load(b, scalar), Scalar::Bool);
        }
        let members = self.hir.members(ty).unwrap_or_default();
        let mut each = Vec::with_capacity(members.len());
        for (i, member) in members.iter().enumerate() {
            each.push(self.equal_at(&part(a, ty, i), &part(b, ty, i), member));
        }
        let all = conjunction(each);
        if !ty.is(NamedKind::Header) {
            return all;
        }
        // Both are invalid, or both are valid with equal fields.
        let (va, vb) = (validity(a), validity(b));
        let agree = ir_binary(BinaryOp::Eq, va.clone(), vb, Scalar::Bool);
        let same = ir_binary(BinaryOp::Or, ir_not(va), all, Scalar::Bool);
        ir_binary(BinaryOp::And, agree, same, Scalar::Bool)
    }

    /// `isValid()` of a header or union.
    pub(super) fn is_valid(&mut self, expr: &Expr) -> p4_ir::Expr {
        let at = self.materialise(expr);
        let ty = self.ty(&expr.ty);
        if !ty.is(NamedKind::Union) {
            return validity(&at);
        }
        let members = self.hir.members(&ty).unwrap_or_default();
        let mut any: Option<p4_ir::Expr> = None;
        for i in 0..members.len() {
            let one = validity(&part(&at, &ty, i));
            any = Some(match any {
                Some(before) => ir_binary(BinaryOp::Or, before, one, Scalar::Bool),
                None => one,
            });
        }
        any.unwrap_or_else(|| ir_bool(false))
    }

    /// A header stack, for push and pop, and its number of elements.
    pub(super) fn stack(&mut self, expr: &Expr) -> Option<(Location, u32)> {
        let ty = self.ty(&expr.ty);
        let Ty::Stack(_, len) = ty else {
            return None;
        };
        if !ty.is_header_stack() {
            let what = format!("pushing to and popping from `{ty}`, which is not a header stack,");
            self.unsupported(expr.span, &what);
            return None;
        }
        Some((self.location(expr)?, len))
    }
}

/// Whether all conditions are true. The tree has minimal depth, because arrays may have many
/// elements.
fn conjunction(mut conditions: Vec<p4_ir::Expr>) -> p4_ir::Expr {
    let Some(last) = conditions.pop() else {
        return ir_bool(true);
    };
    if conditions.is_empty() {
        return last;
    }
    conditions.push(last);
    let right = conditions.split_off(conditions.len().div_ceil(2));
    let (left, right) = (conjunction(conditions), conjunction(right));
    ir_binary(BinaryOp::And, left, right, Scalar::Bool)
}
