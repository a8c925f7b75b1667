//! Where variables are.

use super::{Binding, Lowerer};
use crate::ast::{BinaryOp, DeclId};
use crate::hir::{Expr, ExprKind, NamedKind, Ty};
use crate::span::Span;
use p4_ir::{ExprKind as IrKind, Index, Location, Place, Scalar, StmtKind};
use std::ops::Range;

/// The word of a header stack that says how many elements are in use.
pub(super) const NEXT_INDEX: Scalar = Scalar::Bit(32);

impl Lowerer<'_, '_> {
    /// Words for a new variable.
    pub(super) fn allocate(&mut self, name: String, ty: &Ty, span: Span) -> Location {
        let base = self.out.words;
        let words = self.words(ty);
        match base.checked_add(words) {
            Some(end) if end <= 1 << 24 => self.out.words = end,
            _ => {
                self.error(
                    "too-large",
                    span,
                    "the program needs more than 2^24 words of storage",
                );
                return Location::fixed(0);
            }
        }
        let variable = p4_ir::Variable {
            name,
            ty: self.ir_type(ty),
            base,
            loc: self.loc(span),
        };
        self.out.variables.push(variable);
        Location::fixed(base)
    }

    /// Words for a value between two statements.
    pub(super) fn temporary(&mut self, ty: &Ty, span: Span) -> Location {
        self.temporaries += 1;
        let name = format!("tmp.{}", self.temporaries);
        self.allocate(name, ty, span)
    }

    /// Words for a declared variable, known by its name from here on.
    pub(super) fn declare(&mut self, id: DeclId, ty: &Ty) -> Location {
        let name = match &self.env.action {
            Some(action) => format!("{action}.{}", self.name(id)),
            None => self.qualified(&self.name(id)),
        };
        let at = self.allocate(name, ty, self.span(id));
        self.env.bindings.insert(id, Binding::Place(at.clone()));
        at
    }

    pub(super) fn qualified(&self, name: &str) -> String {
        match self.env.path.as_str() {
            "" => name.to_string(),
            path => format!("{path}.{name}"),
        }
    }

    /// Words from a variable's first to that of its member `i`.
    pub(super) fn offset(&mut self, ty: &Ty, i: usize) -> u32 {
        let first = u32::from(ty.is_header_stack() || ty.is(NamedKind::Header));
        if let Ty::Stack(element, _) = ty {
            return first + i as u32 * self.words(element);
        }
        let members = self.hir.members(ty).unwrap_or_default();
        let before = members.iter().take(i);
        first + before.map(|m| self.words(m)).sum::<u32>()
    }

    /// Where an expression that can be written to is; `None` for a computed value, or part of a value.
    pub(super) fn location(&mut self, expr: &Expr) -> Option<Location> {
        match &expr.kind {
            ExprKind::Var(id) => match self.binding(*id)? {
                Binding::Place(at) => Some(at.clone()),
                _ => None,
            },
            ExprKind::Field(of, i) | ExprKind::Element(of, i) => {
                let at = self.location(of)?;
                let ty = self.ty(&of.ty);
                let offset = self.offset(&ty, *i);
                Some(at.offset(offset))
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

    /// An element of a stack or array that lies at `at`.
    pub(super) fn element_at(
        &mut self,
        at: Location,
        stack: &Expr,
        index: &Expr,
    ) -> Option<Location> {
        let ty = self.ty(&stack.ty);
        let Ty::Stack(element, len) = &ty else {
            return None;
        };
        let (first, len) = (self.offset(&ty, 0), *len);
        let stride = self.words(element);
        if let Some(crate::hir::Value::Int(known)) = self.known(index) {
            let known = u32::try_from(known).ok().filter(|i| *i < len)?;
            return Some(at.offset(first + known * stride));
        }
        let value = self.unsigned(index);
        Some(indexed(at.offset(first), value, stride, len))
    }

    /// `stack.next` or `stack.last`, after a check that it is there.
    fn relative(&mut self, stack: &Expr, last: bool) -> Option<Location> {
        let at = self.location(stack)?;
        let Ty::Stack(element, len) = self.ty(&stack.ty) else {
            return None;
        };
        let stride = self.words(&element);
        let next = p4_ir::Expr::load(Place {
            at: at.clone(),
            ty: NEXT_INDEX,
        });
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
        Some(indexed(at.offset(1), value, stride, len))
    }

    fn error_constant(&self, name: &str) -> p4_ir::Expr {
        let index = self.out.errors.iter().position(|e| e == name).unwrap_or(0);
        p4_ir::Expr::constant(index as u32, Scalar::Symbol)
    }

    /// An index's value, unsigned.
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

    /// The same location, its indices put into variables so that it stays where it is now.
    pub(super) fn pinned(&mut self, at: Location, span: Span) -> Location {
        let indices = at.indices.into_iter().map(|index| {
            if matches!(index.value.kind, IrKind::Const(_)) {
                return index;
            }
            let value = self.spilled(index.value, span);
            Index { value, ..index }
        });
        Location {
            base: at.base,
            indices: indices.collect(),
        }
    }

    /// The value put into a variable, so that it stays what it is now.
    pub(super) fn spilled(&mut self, value: p4_ir::Expr, span: Span) -> p4_ir::Expr {
        if matches!(value.kind, IrKind::Const(_)) {
            return value;
        }
        let ty = scalar_ty(value.ty);
        let to = Place {
            at: self.temporary(&ty, span),
            ty: value.ty,
        };
        self.emit(StmtKind::Assign {
            to: to.clone(),
            value,
        });
        p4_ir::Expr::load(to)
    }

    /// The words that an expression that can be written to may lie in, without evaluating anything.
    pub(super) fn range(&mut self, expr: &Expr) -> Option<Range<u32>> {
        match &expr.kind {
            ExprKind::Var(id) => {
                let Binding::Place(at) = self.binding(*id)? else {
                    return None;
                };
                let base = at.base;
                if !at.indices.is_empty() {
                    return Some(0..u32::MAX);
                }
                let ty = self.ty(&expr.ty);
                Some(base..base + self.words(&ty))
            }
            ExprKind::Field(of, i) | ExprKind::Element(of, i) => {
                let whole = self.range(of)?;
                let ty = self.ty(&of.ty);
                if whole.end == u32::MAX || whole.end - whole.start != self.words(&ty) {
                    return Some(whole);
                }
                let start = whole.start + self.offset(&ty, *i);
                let ty = self.ty(&expr.ty);
                Some(start..start + self.words(&ty))
            }
            ExprKind::Index(of, _) | ExprKind::Next(of) | ExprKind::Last(of) => self.range(of),
            ExprKind::Slice { of, .. } => self.range(of),
            _ => None,
        }
    }

    /// Whether evaluating the expression reads any of these words.
    pub(super) fn reads(&mut self, expr: &Expr, words: &Range<u32>) -> bool {
        if let Some(range) = self.range(expr) {
            let here = range.start < words.end && words.start < range.end;
            let inner = match &expr.kind {
                ExprKind::Index(of, index) => self.reads(of, words) || self.reads(index, words),
                _ => false,
            };
            return here || inner;
        }
        match &expr.kind {
            ExprKind::Field(of, _)
            | ExprKind::Element(of, _)
            | ExprKind::LastIndex(of)
            | ExprKind::Unary(_, of)
            | ExprKind::Cast(of)
            | ExprKind::Slice { of, .. } => self.reads(of, words),
            ExprKind::Index(a, b) => self.reads(a, words) || self.reads(b, words),
            ExprKind::Binary(..) | ExprKind::Conditional(..) => {
                expr.operands().any(|operand| self.reads(operand, words))
            }
            ExprKind::List(members) => members.iter().any(|m| self.reads(m, words)),
            ExprKind::Call(_) => true,
            _ => false,
        }
    }
}

fn indexed(at: Location, value: p4_ir::Expr, stride: u32, len: u32) -> Location {
    let mut at = at;
    at.indices.push(Index { value, stride, len });
    at
}

fn compare(op: BinaryOp, left: p4_ir::Expr, right: p4_ir::Expr) -> p4_ir::Expr {
    p4_ir::Expr {
        kind: IrKind::Binary(
            super::expressions::binary_op(op),
            Box::new(left),
            Box::new(right),
        ),
        ty: Scalar::Bool,
    }
}

pub(super) fn minus_one(value: p4_ir::Expr) -> p4_ir::Expr {
    let ty = value.ty;
    let one = p4_ir::Expr::constant(1u32, ty);
    p4_ir::Expr {
        kind: IrKind::Binary(p4_ir::BinaryOp::Sub, Box::new(value), Box::new(one)),
        ty,
    }
}

/// A type of the checker that is kept as this scalar.
pub(super) fn scalar_ty(scalar: Scalar) -> Ty {
    match scalar {
        Scalar::Bool => Ty::Bool,
        Scalar::Bit(w) => Ty::Bit(w),
        Scalar::Int(w) => Ty::Signed(w),
        Scalar::Varbit(w) => Ty::Varbit(w),
        Scalar::Symbol => Ty::ErrorCode,
    }
}
