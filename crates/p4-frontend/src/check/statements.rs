//! Statements.

use super::{Body, Checker, Inside, infer};
use crate::ast::{self, BinaryOp};
use crate::diagnostic::Diagnostic;
use crate::hir::{Callee, DefKind, Expr, ExprKind, IfArm, NamedKind, Stmt, StmtKind, Ty};
use crate::span::Span;

impl<'a> Body<'_, 'a> {
    /// Statements between braces, in a new scope.
    pub(super) fn block(&mut self, block: &'a ast::Block) -> Vec<Stmt> {
        self.scoped(|c| c.statements(&block.statements))
    }

    pub(super) fn statements(&mut self, statements: &'a [ast::Statement]) -> Vec<Stmt> {
        let one = |s: &'a ast::Statement| self.statement(s);
        statements.iter().filter_map(one).collect()
    }

    fn statement(&mut self, statement: &'a ast::Statement) -> Option<Stmt> {
        let span = statement.span;
        let kind = match &statement.kind {
            ast::StatementKind::Declaration(declaration) => {
                return self.local_declaration(declaration);
            }
            ast::StatementKind::Assign { op, target, value } => {
                self.assign(*op, target, value, span)?
            }
            ast::StatementKind::Call(call) => self.call_statement(call)?,
            ast::StatementKind::Empty | ast::StatementKind::Error => return None,
            ast::StatementKind::Block(block) => StmtKind::Block(self.block(block)),
            ast::StatementKind::If { arms, otherwise } => {
                let arm = |arm: &'a ast::IfArm| IfArm {
                    condition: self.expr_as(&arm.condition, &Ty::Bool, "a condition"),
                    then: self.branch(&arm.then),
                    span: arm.span,
                };
                let arms = arms.iter().map(arm).collect();
                let otherwise = otherwise.as_ref().map_or_else(Vec::new, |s| self.branch(s));
                StmtKind::If { arms, otherwise }
            }
            ast::StatementKind::Switch { subject, cases } => self.switch(subject, cases, span)?,
            ast::StatementKind::Return(value) => self.return_statement(value.as_ref(), span)?,
            ast::StatementKind::Exit => {
                if matches!(self.inside, Inside::Function | Inside::Parser) {
                    self.misplaced("exit", span, "controls and actions");
                    return None;
                }
                StmtKind::Exit
            }
            ast::StatementKind::Break | ast::StatementKind::Continue => {
                let is_break = matches!(statement.kind, ast::StatementKind::Break);
                if !self.in_loop {
                    let word = if is_break { "break" } else { "continue" };
                    self.misplaced(word, span, "loops");
                    return None;
                }
                if is_break {
                    StmtKind::Break
                } else {
                    StmtKind::Continue
                }
            }
            ast::StatementKind::For {
                init,
                condition,
                update,
                body,
                ..
            } => self.scoped(|c| c.for_statement(init, condition, update, body)),
            ast::StatementKind::ForIn {
                variable,
                collection,
                body,
                ..
            } => self.scoped(|c| c.for_in(variable, collection, body))?,
        };
        Some(Stmt { kind, span })
    }

    pub(super) fn misplaced(&mut self, word: &str, span: Span, place: &str) {
        self.error(
            "misplaced-statement",
            span,
            format!("`{word}` is only allowed in {place}"),
            "not allowed here",
        );
    }

    /// A statement in a new scope.
    pub(super) fn branch(&mut self, statement: &'a ast::Statement) -> Vec<Stmt> {
        match &statement.kind {
            ast::StatementKind::Block(block) => self.block(block),
            _ => self.scoped(|c| c.statement(statement).into_iter().collect()),
        }
    }

    fn local_declaration(&mut self, declaration: &'a ast::Declaration) -> Option<Stmt> {
        match &declaration.kind {
            ast::DeclarationKind::Constant { ty, value } => {
                self.constant(declaration, ty, value);
                None
            }
            ast::DeclarationKind::Variable { ty, init } => {
                self.check_shadows(&declaration.name);
                Some(self.variable(declaration, ty, init.as_ref()))
            }
            ast::DeclarationKind::Instance(instance) => {
                if matches!(self.inside, Inside::Control | Inside::Parser) {
                    self.error(
                        "misplaced-declaration",
                        declaration.name.span,
                        "it is not allowed to instantiate anything among statements",
                        "declare it before them",
                    );
                }
                self.instance(declaration, instance);
                Some(Stmt {
                    kind: StmtKind::Instantiate(declaration.id),
                    span: declaration.span,
                })
            }
            _ => {
                self.misplaced(
                    &declaration.name.name,
                    declaration.name.span,
                    "other places",
                );
                None
            }
        }
    }

    /// In the outermost block of an action or function, no declaration may shadow a parameter.
    fn check_shadows(&mut self, name: &ast::Ident) {
        let Some(first) = self.shadowed_parameter(name) else {
            return;
        };
        self.report(
            Diagnostic::error(
                "shadowed-parameter",
                format!("`{}` takes the name of a parameter", name.name),
            )
            .label(name.span, "choose another name")
            .label(first, "the parameter"),
        );
    }

    fn assign(
        &mut self,
        op: Option<BinaryOp>,
        target: &'a ast::Expr,
        value: &'a ast::Expr,
        span: Span,
    ) -> Option<StmtKind> {
        let target = self.expr(target);
        let value = self.value(value);
        if target.ty.is_error() || value.ty.is_error() {
            return None;
        }
        if !self.require_writable(&target, "what is assigned to") {
            return None;
        }
        let value = match op {
            Some(op) => {
                let kind = if target.has_effects() {
                    ExprKind::Target
                } else {
                    target.kind.clone()
                };
                let now = Expr {
                    kind,
                    ..target.clone()
                };
                self.binary(op, now, value, span)
            }
            None => value,
        };
        let ty = target.ty.clone();
        let value = self.coerce_stored(value, &ty, "the value assigned");
        if value.ty.is_error() {
            return None;
        }
        Some(StmtKind::Assign { target, value })
    }

    fn call_statement(&mut self, call: &'a ast::Expr) -> Option<StmtKind> {
        let checked = self.expr(call);
        match &checked.kind {
            ExprKind::Error => None,
            ExprKind::Call(inner) if !matches!(inner.callee, Callee::Constructor) => {
                Some(StmtKind::Call(checked))
            }
            ExprKind::Const(_) => None,
            _ => {
                self.error(
                    "not-a-call",
                    call.span,
                    "an expression is not a statement",
                    "expected a call",
                );
                None
            }
        }
    }

    fn return_statement(&mut self, value: Option<&'a ast::Expr>, span: Span) -> Option<StmtKind> {
        if self.inside == Inside::Parser {
            self.misplaced("return", span, "functions, actions and controls");
            return None;
        }
        match (value, self.result.clone()) {
            (None, Ty::Void) => Some(StmtKind::Return(None)),
            (None, wanted) => {
                self.error(
                    "type-mismatch",
                    span,
                    format!("this function returns a value of type `{wanted}`"),
                    "a value is missing",
                );
                None
            }
            (Some(value), Ty::Void) => {
                self.error(
                    "type-mismatch",
                    value.span,
                    "no value can be returned here",
                    "not expected",
                );
                None
            }
            (Some(value), wanted) => {
                let value = self.value(value);
                let value = self.coerce(value, &wanted, "the value returned");
                Some(StmtKind::Return(Some(value)))
            }
        }
    }
}

impl<'a> Checker<'a> {
    /// `type name = value;`
    pub(super) fn variable(
        &mut self,
        declaration: &'a ast::Declaration,
        written: &'a ast::Type,
        init: Option<&'a ast::Expr>,
    ) -> Stmt {
        let mut ty = self.ty(written);
        let compile_time = matches!(ty, Ty::Int | Ty::String | Ty::MatchKind | Ty::List(_));
        if ty.is_object() || ty == Ty::Void || compile_time {
            let label = if ty == Ty::Int {
                "expected a width: bit<W> or int<W>"
            } else if ty.is(NamedKind::Extern) {
                "an instance needs its constructor's arguments: `(…)`"
            } else {
                "not the type of a variable"
            };
            self.error(
                "bad-variable-type",
                written.span,
                format!("a variable cannot be of type `{ty}`"),
                label,
            );
            // For other types, the uses of the variable are checked as well.
            if ty.is_object() || matches!(ty, Ty::Void | Ty::Int) {
                ty = Ty::Error;
            }
        }
        let what = format!("`{}`", declaration.name.name);
        let init = init.map(|e| {
            let value = self.expr(e);
            self.coerce_stored(value, &ty, &what)
        });
        let kind = DefKind::Variable(ty);
        self.declare(
            declaration.id,
            &declaration.name,
            &declaration.annotations,
            kind,
        );
        Stmt {
            kind: StmtKind::Declare(declaration.id, init),
            span: declaration.span,
        }
    }
}

/// Whether every path through the statements ends in `return` or `exit`.
pub(super) fn always_returns(statements: &[Stmt]) -> bool {
    statements.iter().any(|s| match &s.kind {
        StmtKind::Return(_) | StmtKind::Exit => true,
        StmtKind::Block(body) => always_returns(body),
        StmtKind::If { arms, otherwise } => {
            let possible = arms
                .iter()
                .filter(|arm| infer::known_bool(&arm.condition) != Some(false));
            for arm in possible {
                if !always_returns(&arm.then) {
                    return false;
                }
                if infer::known_bool(&arm.condition) == Some(true) {
                    return true;
                }
            }
            always_returns(otherwise)
        }
        StmtKind::Switch { cases, default, .. } => {
            cases.iter().all(|(_, body)| always_returns(body)) && always_returns(default)
        }
        _ => false,
    })
}
