//! `exit`: leaves the block, but only after parameters are copied back (P4_16 1.2.5, section 12.5).
//!
//! If a call on the path has parameters to copy back, the callee does not exit, but sets a variable and returns. The
//! caller copies, tests the variable, and exits or returns in turn. All other calls exit directly.

use super::body::Kind;
use super::ir::ir_bool;
use super::{Body, Lowerer};
use crate::ast::DeclId;
use crate::hir::{Callee, DefKind, Expr, ExprKind, IfArm, Stmt, StmtKind, Ty};
use p4_ir::{Place, Scalar, StmtKind as IrStmt};

impl Body<'_, '_, '_> {
    /// Whether `exit` returns to the caller with the variable set.
    pub(super) fn exits_softly(&self) -> bool {
        matches!(self.kind, Kind::Control { soft_exit: true })
    }

    /// `exit;`
    pub(super) fn exit(&mut self) {
        if !self.exits_softly() {
            return self.emit(IrStmt::Exit);
        }
        let to = self.exiting();
        self.set(to, ir_bool(true));
        self.emit(IrStmt::Return);
    }

    /// Called before a call of something that may return with the variable set, if `soft`.
    pub(super) fn before_call(&mut self, soft: bool) {
        if soft && !self.exits_softly() {
            let to = self.exiting();
            self.set(to, ir_bool(false));
        }
    }

    /// Called after it.
    pub(super) fn after_call(&mut self, soft: bool) {
        if !soft {
            return;
        }
        let condition = p4_ir::Expr::load(self.exiting());
        let leave = if self.exits_softly() {
            IrStmt::Return
        } else {
            IrStmt::Exit
        };
        let then = self.collect(|l| l.emit(leave));
        self.when(condition, then);
    }
}

impl Lowerer<'_, '_> {
    fn exiting(&mut self) -> Place {
        if let Some(place) = &self.exiting {
            return place.clone();
        }
        let nowhere = crate::span::Span::new(crate::span::FileId(0), 0, 0);
        let place = Place {
            at: self.allocate("exiting".into(), &Ty::Bool, nowhere),
            ty: Scalar::Bool,
        };
        self.exiting = Some(place.clone());
        place
    }

    /// Whether an action or control may exit, directly or through its callees.
    pub(super) fn may_exit(&self, id: DeclId) -> bool {
        match self.hir.kind(id) {
            Some(DefKind::Action(action)) => self.statements_exit(&action.body),
            Some(DefKind::Control(control)) => match &control.of.body {
                Some(body) => {
                    self.statements_exit(&body.locals) || self.statements_exit(&body.apply)
                }
                None => false,
            },
            Some(DefKind::Table(table)) => table.actions.iter().any(|a| self.may_exit(a.action)),
            _ => false,
        }
    }

    fn statements_exit(&self, statements: &[Stmt]) -> bool {
        statements.iter().any(|s| self.statement_exits(&s.kind))
    }

    fn statement_exits(&self, statement: &StmtKind) -> bool {
        match statement {
            StmtKind::Exit => true,
            StmtKind::Call(call) => self.expr_exits(call),
            StmtKind::Declare(_, init) => init.as_ref().is_some_and(|e| self.expr_exits(e)),
            StmtKind::Assign { value, .. } => self.expr_exits(value),
            StmtKind::Block(body) => self.statements_exit(body),
            StmtKind::If { arms, otherwise } => {
                let exits = |arm: &IfArm| {
                    self.expr_exits(&arm.condition) || self.statements_exit(&arm.then)
                };
                arms.iter().any(exits) || self.statements_exit(otherwise)
            }
            StmtKind::Switch { cases, default, .. } => {
                cases.iter().any(|(_, body)| self.statements_exit(body))
                    || self.statements_exit(default)
            }
            StmtKind::SwitchAction {
                table,
                cases,
                default,
            } => {
                self.may_exit(*table)
                    || cases.iter().any(|(_, body)| self.statements_exit(body))
                    || self.statements_exit(default)
            }
            StmtKind::For { body, .. } | StmtKind::ForIn { body, .. } => self.statements_exit(body),
            _ => false,
        }
    }

    /// Whether the evaluation of an expression applies a table, control or action that may exit.
    fn expr_exits(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::TableHit { table, .. } => self.may_exit(*table),
            ExprKind::Unary(_, of) | ExprKind::Cast(of) => self.expr_exits(of),
            ExprKind::Binary(..) | ExprKind::Conditional(..) => {
                expr.operands().any(|operand| self.expr_exits(operand))
            }
            ExprKind::Call(call) => match &call.callee {
                Callee::Action(id) | Callee::Table(id) => self.may_exit(*id),
                Callee::Instance(object) => self.block_exits(&object.ty),
                Callee::Anonymous(ty) => self.block_exits(ty),
                _ => false,
            },
            _ => false,
        }
    }

    fn block_exits(&self, ty: &Ty) -> bool {
        matches!(ty, Ty::Named(named) if self.may_exit(named.id))
    }
}
