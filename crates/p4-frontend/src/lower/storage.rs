//! Storage of variables.

use super::ir::{NEXT_INDEX, NOWHERE, binary_op, minus_one, next_index, part, scalar_ty};
use super::{Binding, Body, Lowerer, Scope};
use crate::ast::BinaryOp;
use crate::hir::{Expr, ExprKind, Ty};
use crate::span::Span;
use p4_ir::{ExprKind as IrKind, Location, Place, Scalar, Step, StmtKind, VariableId};

/// The most values that all variables together may hold.
const MAX_VALUES: u32 = 1 << 24;

impl Body<'_, '_, '_> {
    /// The location of an assignable expression. `None` for a computed value, or a part of a value.
    pub(super) fn location(&mut self, expr: &Expr) -> Option<Location> {
        match &expr.kind {
            ExprKind::Var(id) => match self.binding(*id)? {
                Binding::Place(at) => Some(at.clone()),
                _ => None,
            },
            ExprKind::Field(of, i) | ExprKind::Element(of, i) => {
                let at = self.location(of)?;
                let ty = self.ty(&of.ty);
                Some(part(&at, &ty, *i))
            }
            ExprKind::Index(of, index) => {
                let at = self.location(of)?;
                self.element_at(at, of, index)
            }
            ExprKind::Next(of) => self.relative(of, false),
            ExprKind::Last(of) => self.relative(of, true),
            _ => None,
        }
    }

    /// An element of a stack or array at `at`.
    pub(super) fn element_at(
        &mut self,
        at: Location,
        stack: &Expr,
        index: &Expr,
    ) -> Option<Location> {
        let ty = self.ty(&stack.ty);
        let Ty::Stack(_, len) = ty else {
            return None;
        };
        if let Some(crate::hir::Value::Int(known)) = self.known(index) {
            let known = u32::try_from(known).ok().filter(|i| *i < len)?;
            return Some(at.element_at(known));
        }
        let value = self.unsigned(index);
        Some(at.element(value))
    }

    /// `stack.next` or `stack.last`, after a check that the element exists.
    fn relative(&mut self, stack: &Expr, last: bool) -> Option<Location> {
        let at = self.location(stack)?;
        let Ty::Stack(_, len) = self.ty(&stack.ty) else {
            return None;
        };
        let next = p4_ir::Expr::load(next_index(&at));
        let (there, value) = if last {
            let zero = p4_ir::Expr::constant(0u32, NEXT_INDEX);
            let there = compare(BinaryOp::Gt, next.clone(), zero);
            (there, minus_one(next))
        } else {
            let length = p4_ir::Expr::constant(len, NEXT_INDEX);
            (compare(BinaryOp::Lt, next.clone(), length), next)
        };
        let error = self.error_constant("StackOutOfBounds");
        self.emit(StmtKind::Verify(there, error));
        Some(at.element(value))
    }

    /// The value of an index, unsigned.
    fn unsigned(&mut self, index: &Expr) -> p4_ir::Expr {
        let value = self.scalar(index);
        match value.ty {
            Scalar::Int(w) => p4_ir::Expr {
                kind: IrKind::Cast(Box::new(value)),
                ty: Scalar::Bit(w),
            },
            _ => value,
        }
    }

    /// The same location with its indices stored in variables, so that later changes do not affect it.
    pub(super) fn pinned(&mut self, at: Location, span: Span) -> Location {
        let steps = at.path.into_iter().map(|step| match step {
            Step::Element(index) => Step::Element(self.spilled(index, span)),
            step => step,
        });
        Location {
            variable: at.variable,
            path: steps.collect(),
        }
    }

    /// The value stored in a variable, so that later changes do not affect it.
    pub(super) fn spilled(&mut self, value: p4_ir::Expr, span: Span) -> p4_ir::Expr {
        if matches!(value.kind, IrKind::Const(_)) {
            return value;
        }
        let to = self.scratch(value.ty, span);
        self.set(to.clone(), value);
        p4_ir::Expr::load(to)
    }
}

impl Scope<'_, '_, '_> {
    pub(super) fn qualified(&self, name: &str) -> String {
        match self.env.path.as_str() {
            "" => name.to_string(),
            path => format!("{path}.{name}"),
        }
    }

    /// A place that contains everything to which an assignable expression may refer, without evaluating anything.
    pub(super) fn region(&self, expr: &Expr) -> Option<Location> {
        match &expr.kind {
            ExprKind::Var(id) => match self.binding(*id)? {
                Binding::Place(at) => Some(at.clone()),
                _ => None,
            },
            ExprKind::Field(of, i) | ExprKind::Element(of, i) => {
                let whole = self.region(of)?;
                match is_exact(of) {
                    true => Some(part(&whole, &self.ty(&of.ty), *i)),
                    false => Some(whole),
                }
            }
            ExprKind::Index(of, _) | ExprKind::Next(of) | ExprKind::Last(of) => self.region(of),
            ExprKind::Slice { of, .. } => self.region(of),
            _ => None,
        }
    }

    /// Whether evaluating the expression reads any part of this place.
    pub(super) fn reads(&self, expr: &Expr, place: &Location) -> bool {
        if let Some(region) = self.region(expr) {
            let inner = match &expr.kind {
                ExprKind::Index(of, index) => self.reads(of, place) || self.reads(index, place),
                _ => false,
            };
            return region.overlaps(place) || inner;
        }
        match &expr.kind {
            ExprKind::Field(of, _)
            | ExprKind::Element(of, _)
            | ExprKind::LastIndex(of)
            | ExprKind::Unary(_, of)
            | ExprKind::Cast(of)
            | ExprKind::Slice { of, .. } => self.reads(of, place),
            ExprKind::Index(a, b) => self.reads(a, place) || self.reads(b, place),
            ExprKind::Binary(..) | ExprKind::Conditional(..) => {
                expr.operands().any(|operand| self.reads(operand, place))
            }
            ExprKind::List(members) => members.iter().any(|m| self.reads(m, place)),
            ExprKind::Call(_) => true,
            _ => false,
        }
    }
}

impl Lowerer<'_, '_> {
    /// A new variable.
    pub(super) fn allocate(&mut self, name: String, ty: &Ty, span: Span) -> Location {
        let values = self.values.saturating_add(self.values_of(ty));
        if values > MAX_VALUES {
            let message = "the program's variables hold more than 2^24 values";
            self.error("too-large", span, message);
            return NOWHERE;
        }
        self.values = values;
        let variable = p4_ir::Variable {
            name,
            ty: self.ir_type(ty),
            loc: self.loc(span),
        };
        self.out.variables.push(variable);
        Location::variable(VariableId(self.out.variables.len() as u32 - 1))
    }

    /// A variable for a temporary value.
    pub(super) fn temporary(&mut self, ty: &Ty, span: Span) -> Location {
        self.temporaries += 1;
        let name = format!("tmp.{}", self.temporaries);
        self.allocate(name, ty, span)
    }

    /// A variable for a temporary scalar.
    pub(super) fn scratch(&mut self, ty: Scalar, span: Span) -> Place {
        let at = self.temporary(&scalar_ty(ty), span);
        Place { at, ty }
    }

    fn error_constant(&self, name: &str) -> p4_ir::Expr {
        let index = self.out.errors.iter().position(|e| e == name).unwrap_or(0);
        p4_ir::Expr::constant(index as u32, Scalar::Symbol)
    }
}

/// Whether the region of an expression is exactly its place.
fn is_exact(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Var(_) => true,
        ExprKind::Field(of, _) | ExprKind::Element(of, _) => is_exact(of),
        _ => false,
    }
}

fn compare(op: BinaryOp, left: p4_ir::Expr, right: p4_ir::Expr) -> p4_ir::Expr {
    p4_ir::Expr {
        kind: IrKind::Binary(binary_op(op), Box::new(left), Box::new(right)),
        ty: Scalar::Bool,
    }
}
