//! Statements.

use super::Body;
use super::ir::{NEXT_INDEX, ir_binary};
use crate::ast::DeclId;
use crate::hir::{DefKind, Expr, ExprKind, IfArm, Stmt, StmtKind, Ty};
use p4_ir::{BinaryOp, Place, Scalar, StmtKind as IrStmt};

impl Body<'_, '_, '_> {
    pub(super) fn statements(&mut self, statements: &[Stmt]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn part(&mut self, statements: &[Stmt]) -> Vec<p4_ir::Stmt> {
        self.collect(|l| l.statements(statements))
    }

    pub(super) fn statement(&mut self, statement: &Stmt) {
        self.at = self.loc(statement.span);
        match &statement.kind {
            StmtKind::Declare(id, init) => self.declaration(*id, init.as_ref()),
            StmtKind::Instantiate(id) => self.instantiate(*id),
            StmtKind::Assign { target, value } => self.assign(target, value),
            StmtKind::Call(call) => self.call_statement(call),
            StmtKind::Block(body) => self.statements(body),
            StmtKind::If { arms, otherwise } => self.if_statement(arms, otherwise),
            StmtKind::Switch { on, cases, default } => self.switch(on, cases, default),
            StmtKind::SwitchAction {
                table,
                cases,
                default,
            } => self.switch_action(*table, cases, default, statement),
            StmtKind::For {
                init,
                condition,
                update,
                body,
            } => {
                self.statements(init);
                let mut test = None;
                let prepare = self.collect(|l| test = Some(l.scalar(condition)));
                let Some(condition) = test else { return };
                let body = self.part(body);
                let update = self.part(update);
                self.emit(IrStmt::Loop {
                    prepare,
                    condition,
                    body,
                    update,
                });
            }
            StmtKind::ForIn {
                variable,
                collection,
                body,
            } => {
                if let ExprKind::Var(id) = variable.kind
                    && self.binding(id).is_none()
                {
                    self.declaration(id, None);
                }
                match &collection.kind {
                    ExprKind::Range(low, high) => self.for_range(variable, low, high, body),
                    _ => self.for_each(variable, collection, body),
                }
            }
            StmtKind::Return(value) => {
                if let (Some(value), Some((at, ty))) = (value, self.result()) {
                    self.store(&at, &ty, value);
                }
                self.emit(IrStmt::Return);
            }
            StmtKind::Exit => self.exit(),
            StmtKind::Break => self.emit(IrStmt::Break),
            StmtKind::Continue => self.emit(IrStmt::Continue),
        }
    }

    fn declaration(&mut self, id: DeclId, init: Option<&Expr>) {
        let Some(DefKind::Variable(ty)) = self.hir.kind(id) else {
            return;
        };
        let ty = self.ty(ty);
        let at = self.declare(id, &ty);
        match init {
            Some(init) => self.store(&at, &ty, init),
            None => self.invalidate(&at, &ty),
        }
    }

    fn call_statement(&mut self, expr: &Expr) {
        let ExprKind::Call(call) = &expr.kind else {
            return;
        };
        let ty = self.ty(&expr.ty);
        self.call(call, &ty, expr.span);
    }

    fn if_statement(&mut self, arms: &[IfArm], otherwise: &[Stmt]) {
        let conditions: Vec<_> = arms
            .iter()
            .map(|arm| (&arm.condition, Some(arm.span)))
            .collect();
        self.branches(&conditions, &mut |l, arm| {
            l.statements(arm.map_or(otherwise, |arm| &arms[arm].then));
        });
    }

    fn switch(&mut self, on: &Expr, cases: &[(Vec<Expr>, Vec<Stmt>)], default: &[Stmt]) {
        let at = self.at;
        let on = self.scalar(on);
        let mut lowered = Vec::new();
        for (labels, body) in cases {
            let labels = labels.iter().map(|l| self.scalar(l)).collect();
            lowered.push((labels, self.part(body)));
        }
        let default = self.part(default);
        self.at = at;
        self.emit(IrStmt::Switch {
            on,
            cases: lowered,
            default,
        });
    }

    fn switch_action(
        &mut self,
        table: DeclId,
        cases: &[(Vec<DeclId>, Vec<Stmt>)],
        default: &[Stmt],
        statement: &Stmt,
    ) {
        let ran = self.scratch(Scalar::Symbol, statement.span);
        self.apply_table(table, None, Some(ran.clone()), statement.span);
        let Some(DefKind::Table(def)) = self.hir.kind(table) else {
            return;
        };
        let at = self.at;
        let index = |id: &DeclId| def.actions.iter().position(|a| a.action == *id);
        let mut lowered = Vec::new();
        for (actions, body) in cases {
            let labels = actions.iter().filter_map(index);
            let labels = labels.map(|i| p4_ir::Expr::constant(i as u32, Scalar::Symbol));
            lowered.push((labels.collect(), self.part(body)));
        }
        let default = self.part(default);
        self.at = at;
        self.emit(IrStmt::Switch {
            on: p4_ir::Expr::load(ran),
            cases: lowered,
            default,
        });
    }

    /// `for (v in low .. high)`. The last value may be the maximum of the type, so a flag ends the loop rather than a
    /// comparison after the addition.
    fn for_range(&mut self, variable: &Expr, low: &Expr, high: &Expr, body: &[Stmt]) {
        let ty = self.ty(&variable.ty);
        let Some(scalar) = self.scalar_type(&ty) else {
            return;
        };
        let counter = Place {
            at: self.temporary(&ty, variable.span),
            ty: scalar,
        };
        let low = self.scalar(low);
        self.set(counter.clone(), low);
        let high = self.scalar(high);
        let high = self.spilled(high, variable.span);
        let more = self.scratch(Scalar::Bool, variable.span);
        let now = p4_ir::Expr::load(counter.clone());
        self.set(
            more.clone(),
            ir_binary(BinaryOp::Le, now.clone(), high.clone(), Scalar::Bool),
        );
        let body = self.collect(|l| {
            let target = l.target(variable);
            l.write(&target, &counter.at, &ty);
            l.statements(body);
        });
        let update = self.collect(|l| {
            let value = ir_binary(BinaryOp::Lt, now.clone(), high, Scalar::Bool);
            l.set(more.clone(), value);
            let one = p4_ir::Expr::constant(1u32, scalar);
            l.set(counter.clone(), ir_binary(BinaryOp::Add, now, one, scalar));
        });
        self.emit(IrStmt::Loop {
            prepare: Vec::new(),
            condition: p4_ir::Expr::load(more),
            body,
            update,
        });
    }

    /// `for (v in array)`, `for (v in { a, b })`
    fn for_each(&mut self, variable: &Expr, collection: &Expr, body: &[Stmt]) {
        let ty = self.ty(&variable.ty);
        let of = self.ty(&collection.ty);
        let (all, len) = match (&of, &collection.kind) {
            (Ty::Stack(_, len), _) => (self.materialise(collection), *len),
            (_, ExprKind::List(members)) => {
                let tuple = Ty::Tuple(vec![ty.clone(); members.len()].into());
                let at = self.temporary(&tuple, collection.span);
                for (i, member) in members.iter().enumerate() {
                    self.store(&at.member(i as u32), &ty, member);
                }
                (at, members.len() as u32)
            }
            (Ty::Tuple(members), _) => {
                let len = members.len() as u32;
                (self.materialise(collection), len)
            }
            _ => return self.unsupported(collection.span, "a loop over this"),
        };
        let counter = self.scratch(Scalar::Bit(32), variable.span);
        let zero = p4_ir::Expr::constant(0u32, counter.ty);
        self.set(counter.clone(), zero);
        let now = p4_ir::Expr::load(counter.clone());
        let body = self.collect(|l| {
            let target = l.target(variable);
            l.write(&target, &all.element(now.clone()), &ty);
            l.statements(body);
        });
        let update = self.collect(|l| {
            let one = p4_ir::Expr::constant(1u32, counter.ty);
            l.set(
                counter.clone(),
                ir_binary(BinaryOp::Add, now.clone(), one, NEXT_INDEX),
            );
        });
        let length = p4_ir::Expr::constant(len, counter.ty);
        self.emit(IrStmt::Loop {
            prepare: Vec::new(),
            condition: ir_binary(BinaryOp::Lt, now, length, Scalar::Bool),
            body,
            update,
        });
    }
}
