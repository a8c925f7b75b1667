//! Chains of operators, of `?:` and of `else if`. They are flat in the source, but nested in the IR, with one level per
//! link. A long chain is split with variables, so that the IR is not nested much deeper than the source.

use super::Body;
use super::ir::{binary_op, constant, ir_binary, ir_bool, ir_not};
use crate::ast;
use crate::hir::{Expr, Operation, Value};
use crate::span::Span;
use p4_ir::{BinaryOp, ExprKind as IrKind, Scalar, StmtKind};

/// The maximum number of IR levels for all chains around a position.
const MAX_CHAINED: usize = 128;

/// The operators so far.
enum Left<'e> {
    First(&'e Expr),
    Value(p4_ir::Expr),
}

impl Body<'_, '_, '_> {
    /// Lowers a chain with this number of levels. `lower` is passed whether the chain fits into one expression; if not,
    /// it stores intermediate values in variables.
    fn chain<R>(&mut self, levels: usize, lower: impl FnOnce(&mut Self, bool) -> R) -> R {
        let outer = self.depth.chained;
        let fits = outer + levels <= MAX_CHAINED;
        self.depth.chained = (outer + levels).min(MAX_CHAINED);
        let result = lower(self, fits);
        self.depth.chained = outer;
        result
    }

    /// The value of a chain after `levels` of its levels, stored in a variable if it would be nested too deeply.
    fn cut(&mut self, value: p4_ir::Expr, levels: usize, span: Span) -> p4_ir::Expr {
        if levels.is_multiple_of(MAX_CHAINED) {
            return self.spilled(value, span);
        }
        value
    }

    /// `first op right op right ...`
    pub(super) fn operations(
        &mut self,
        first: &Expr,
        rest: &[Operation],
        span: Span,
    ) -> p4_ir::Expr {
        let inside = self.depth.chained > 0;
        self.chain(rest.len(), |l, fits| {
            let (mut left, known) = l.known_start(first, rest);
            for (i, operation) in rest.iter().enumerate().skip(known) {
                let mut value = l.operation(left, operation);
                if !fits {
                    value = l.cut(value, i + 1, span);
                }
                left = Left::Value(value);
            }
            let value = l.value_of(left);
            if fits || !inside {
                value
            } else {
                l.spilled(value, span)
            }
        })
    }

    /// The value of the longest prefix of operators that is known, and the number of these operators.
    fn known_start<'e>(&self, first: &'e Expr, rest: &[Operation]) -> (Left<'e>, usize) {
        let mut left = Left::First(first);
        let mut count = 0;
        let mut known = self.known(first).map(|value| (value, self.ty(&first.ty)));
        for (i, operation) in rest.iter().enumerate() {
            known = known.and_then(|left| self.constants().known_operation(left, operation));
            let Some((value, ty)) = &known else { break };
            let Some(scalar) = self.scalar_type(ty) else {
                break;
            };
            left = Left::Value(constant(value, scalar));
            count = i + 1;
        }
        (left, count)
    }

    fn value_of(&mut self, left: Left) -> p4_ir::Expr {
        match left {
            Left::First(expr) => self.scalar(expr),
            Left::Value(value) => value,
        }
    }

    /// `left op right`
    fn operation(&mut self, left: Left, operation: &Operation) -> p4_ir::Expr {
        let Operation { op, right, ty } = operation;
        let effects = right.has_effects();
        let ty = self.ty(ty);
        let scalar = self.scalar_type(&ty).unwrap_or(Scalar::Bool);
        match (op, &left) {
            (ast::BinaryOp::And | ast::BinaryOp::Or, _) if effects => {
                let left = self.value_of(left);
                return self.short_circuit(*op, left, right);
            }
            (ast::BinaryOp::Eq | ast::BinaryOp::Ne, Left::First(first)) => {
                let over = self.ty(&first.ty);
                if self.scalar_type(&over).is_none() {
                    let equal = self.equal(first, right);
                    return match op {
                        ast::BinaryOp::Eq => equal,
                        _ => ir_not(equal),
                    };
                }
            }
            _ => {}
        }
        let mut left = self.value_of(left);
        if effects {
            left = self.spilled(left, right.span);
        }
        let right = match op {
            ast::BinaryOp::Shl | ast::BinaryOp::Shr => self.amount(right),
            _ => self.scalar(right),
        };
        ir_binary(binary_op(*op), left, right, scalar)
    }

    /// `left && right` or `left || right`, if the right operand has side effects.
    fn short_circuit(&mut self, op: ast::BinaryOp, left: p4_ir::Expr, right: &Expr) -> p4_ir::Expr {
        let to = self.scratch(Scalar::Bool, right.span);
        self.set(to.clone(), left);
        let continued = self.collect(|l| {
            let value = l.scalar(right);
            l.set(to.clone(), value);
        });
        let (then, otherwise) = if op == ast::BinaryOp::And {
            (continued, Vec::new())
        } else {
            (Vec::new(), continued)
        };
        let condition = p4_ir::Expr::load(to.clone());
        self.emit(StmtKind::If {
            condition,
            then,
            otherwise,
        });
        p4_ir::Expr::load(to)
    }

    /// `condition ? then : ... : otherwise` of a scalar type. Only the first condition may have side effects.
    pub(super) fn mux(
        &mut self,
        arms: &[(Expr, Expr)],
        otherwise: &Expr,
        ty: Scalar,
    ) -> p4_ir::Expr {
        let inside = self.depth.chained > 0;
        self.chain(arms.len(), |l, fits| {
            let arm = |(condition, then): &(Expr, Expr)| (l.scalar(condition), l.scalar(then));
            let lowered: Vec<_> = arms.iter().map(arm).collect();
            let mut value = l.scalar(otherwise);
            for (levels, (condition, then)) in (1..).zip(lowered.into_iter().rev()) {
                let (condition, then) = (Box::new(condition), Box::new(then));
                value = p4_ir::Expr {
                    kind: IrKind::Mux(condition, then, Box::new(value)),
                    ty,
                };
                if !fits {
                    value = l.cut(value, levels, otherwise.span);
                }
            }
            if fits || !inside {
                value
            } else {
                l.spilled(value, otherwise.span)
            }
        })
    }

    /// `if (condition) ... else if (condition) ... else ...`. `body` lowers the branch of the condition with an index,
    /// or without an index the final `else`. A condition with a source location is a statement. Branches that known
    /// conditions exclude are not lowered, so that a control plane does not see their tables.
    pub(super) fn branches(
        &mut self,
        conditions: &[(&Expr, Option<Span>)],
        body: &mut dyn FnMut(&mut Self, Option<usize>),
    ) {
        let mut last = None;
        let mut open = Vec::new();
        for (index, (condition, _)) in conditions.iter().enumerate() {
            match self.known(condition) {
                Some(Value::Bool(false)) => {}
                Some(_) => {
                    last = Some(index);
                    break;
                }
                None => open.push(index),
            }
        }
        let conditions: Vec<_> = open.iter().map(|&index| conditions[index]).collect();
        let mut body =
            |l: &mut Self, at: Option<usize>| body(l, at.map_or(last, |at| Some(open[at])));
        if conditions.is_empty() {
            return body(self, None);
        }
        self.chain(conditions.len() - 1, |l, fits| {
            if fits {
                l.nested_branches(&conditions, 0, &mut body);
            } else {
                l.flat_branches(&conditions, &mut body);
            }
        });
    }

    fn nested_branches(
        &mut self,
        conditions: &[(&Expr, Option<Span>)],
        index: usize,
        body: &mut dyn FnMut(&mut Self, Option<usize>),
    ) {
        let Some((condition, span)) = conditions.get(index) else {
            return body(self, None);
        };
        self.move_to(*span);
        let at = self.at;
        let condition = self.scalar(condition);
        let then = self.collect(|l| body(l, Some(index)));
        let otherwise = self.collect(|l| l.nested_branches(conditions, index + 1, body));
        self.at = at;
        self.emit(StmtKind::If {
            condition,
            then,
            otherwise,
        });
    }

    /// The same in sequence: a variable records whether all conditions so far were false.
    fn flat_branches(
        &mut self,
        conditions: &[(&Expr, Option<Span>)],
        body: &mut dyn FnMut(&mut Self, Option<usize>),
    ) {
        let at = self.at;
        let nowhere = conditions[0].0.span;
        let failed = self.scratch(Scalar::Bool, nowhere);
        let set = |l: &mut Self, value| {
            l.set(failed.clone(), ir_bool(value));
        };
        set(self, true);
        let all_failed = p4_ir::Expr::load(failed.clone());
        for (index, (condition, span)) in conditions.iter().enumerate() {
            self.move_to(*span);
            let here = self.at;
            let mut value = ir_bool(false);
            let mut statements = self.collect(|l| value = l.scalar(condition));
            let then = self.collect(|l| {
                set(l, false);
                body(l, Some(index));
            });
            self.at = here;
            if statements.is_empty() {
                value = ir_binary(BinaryOp::And, all_failed.clone(), value, Scalar::Bool);
                self.when(value, then);
            } else {
                statements.extend(self.collect(|l| l.when(value, then)));
                self.when(all_failed.clone(), statements);
            }
        }
        let otherwise = self.collect(|l| body(l, None));
        self.at = at;
        if !otherwise.is_empty() {
            self.when(all_failed, otherwise);
        }
    }

    fn move_to(&mut self, span: Option<Span>) {
        if let Some(span) = span {
            self.at = self.loc(span);
        }
    }
}
