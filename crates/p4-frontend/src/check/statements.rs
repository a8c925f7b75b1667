//! Statements.

use super::{Checker, Inside, infer};
use crate::ast::{self, BinaryOp, DeclId};
use crate::diagnostic::Diagnostic;
use crate::hir::{Callee, DefKind, Expr, ExprKind, NamedKind, Stmt, StmtKind, Ty};
use crate::span::Span;

impl<'a> Checker<'a> {
    /// Statements between braces, in a scope of their own.
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
            ast::StatementKind::If {
                condition,
                then,
                otherwise,
            } => {
                let condition = self.expr_as(condition, &Ty::Bool, "a condition");
                let then = self.branch(then);
                let otherwise = otherwise.as_ref().map_or_else(Vec::new, |s| self.branch(s));
                StmtKind::If {
                    condition,
                    then,
                    otherwise,
                }
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
                if self.loops == 0 {
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

    fn misplaced(&mut self, word: &str, span: Span, place: &str) {
        self.error(
            "misplaced-statement",
            span,
            format!("`{word}` is only possible in {place}"),
            "not possible here",
        );
    }

    /// One statement, in a scope of its own.
    fn branch(&mut self, statement: &'a ast::Statement) -> Vec<Stmt> {
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
                Some(self.variable(declaration, ty, init.as_ref()))
            }
            ast::DeclarationKind::Instance(instance) => {
                if matches!(self.inside, Inside::Control | Inside::Parser) {
                    self.error(
                        "misplaced-declaration",
                        declaration.name.span,
                        "it is not possible to instantiate anything among statements",
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
            ty = Ty::Error;
        }
        let what = format!("`{}`", declaration.name.name);
        let init = init.map(|e| self.expr_as(e, &ty, &what));
        self.check_shadows(&declaration.name);
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

    /// In the outermost block of an action or function nothing may take a parameter's name.
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
        let value = self.coerce(value, &ty, "the value assigned");
        if value.ty.is_error() {
            return None;
        }
        Some(StmtKind::Assign { target, value })
    }

    fn call_statement(&mut self, call: &'a ast::Expr) -> Option<StmtKind> {
        let checked = self.expr(call);
        match &checked.kind {
            ExprKind::Error => None,
            ExprKind::Call(inner) if !matches!(inner.callee, Callee::Constructor(_)) => {
                Some(StmtKind::Call(checked))
            }
            ExprKind::Const(_) => None,
            _ => {
                self.error(
                    "not-a-call",
                    call.span,
                    "an expression alone does nothing",
                    "expected a call",
                );
                None
            }
        }
    }

    fn switch(
        &mut self,
        subject: &'a ast::Expr,
        cases: &'a [ast::SwitchCase],
        span: Span,
    ) -> Option<StmtKind> {
        self.action_run_allowed = true;
        let subject = self.value(subject);
        self.action_run_allowed = false;
        if self.inside == Inside::Parser {
            self.misplaced("switch", span, "controls, actions and functions");
        }
        self.check_default_last(cases);
        match subject.ty.clone() {
            Ty::ActionEnum(table, _) => Some(self.switch_action(table, cases)),
            Ty::Error => {
                for case in cases {
                    case.body.as_ref().map(|b| self.block(b));
                }
                None
            }
            ty @ (Ty::Bit(_) | Ty::Signed(_) | Ty::ErrorCode | Ty::Bool) => {
                Some(self.switch_value(subject, &ty, cases))
            }
            ty if ty.is(NamedKind::Enum)
                || ty.is(NamedKind::SerialisableEnum)
                || ty.is(NamedKind::New) =>
            {
                Some(self.switch_value(subject, &ty, cases))
            }
            ty => {
                self.error(
                    "type-mismatch",
                    subject.span,
                    format!("a switch on `{ty}` is not possible"),
                    "expected bit<W>, int<W>, bool, error, an enum or `t.apply().action_run`",
                );
                None
            }
        }
    }

    fn check_default_last(&mut self, cases: &[ast::SwitchCase]) {
        let is_default = |c: &ast::SwitchCase| matches!(c.label.kind, ast::ExprKind::Default);
        let Some(at) = cases.iter().position(is_default) else {
            return;
        };
        if let Some(next) = cases.get(at + 1) {
            self.report(
                Diagnostic::error(
                    "label-after-default",
                    "`default` must be the last label of a switch",
                )
                .label(cases[at].label.span, "not the last")
                .label(next.label.span, "follows it"),
            );
        }
    }

    fn switch_action(&mut self, table: DeclId, cases: &'a [ast::SwitchCase]) -> StmtKind {
        let listed: Vec<DeclId> = match self.def(table).map(|d| &d.kind) {
            Some(DefKind::Table(t)) => t.actions.iter().map(|a| a.action).collect(),
            _ => Vec::new(),
        };
        let mut done: Vec<(Vec<DeclId>, Vec<Stmt>)> = Vec::new();
        let mut default = Vec::new();
        let mut labels = Vec::new();
        let mut seen = Vec::new();
        let mut with_default = false;
        for case in cases {
            if matches!(case.label.kind, ast::ExprKind::Default) {
                with_default = true;
            } else if let Some(id) = self.action_label(&case.label, &listed) {
                if seen.contains(&id) {
                    self.error(
                        "duplicate-label",
                        case.label.span,
                        "this action has a case already",
                        "given again",
                    );
                }
                seen.push(id);
                labels.push(id);
            }
            let Some(body) = &case.body else { continue };
            let body = self.block(body);
            if with_default {
                default = body;
            } else {
                done.push((std::mem::take(&mut labels), body));
            }
        }
        StmtKind::SwitchAction {
            table,
            cases: done,
            default,
        }
    }

    fn action_label(&mut self, label: &'a ast::Expr, listed: &[DeclId]) -> Option<DeclId> {
        let ast::ExprKind::Name(path) = &label.kind else {
            self.error(
                "bad-label",
                label.span,
                "a label of this switch must be an action's name",
                "not a name",
            );
            return None;
        };
        let id = self.resolve(path, "action")?;
        if listed.contains(&id) {
            return Some(id);
        }
        let names: Vec<String> = listed
            .iter()
            .filter_map(|id| Some(self.def(*id)?.name.to_string()))
            .collect();
        self.error(
            "bad-label",
            label.span,
            format!("`{}` is not an action of this table", path.name.name),
            format!(
                "expected one of {}",
                super::suggest::listed(names.iter().map(String::as_str))
            ),
        );
        None
    }

    fn switch_value(&mut self, on: Expr, ty: &Ty, cases: &'a [ast::SwitchCase]) -> StmtKind {
        let mut done: Vec<(Vec<Expr>, Vec<Stmt>)> = Vec::new();
        let mut default = Vec::new();
        let mut labels: Vec<Expr> = Vec::new();
        let mut seen = Vec::new();
        let mut with_default = false;
        for case in cases {
            if matches!(case.label.kind, ast::ExprKind::Default) {
                with_default = true;
            } else {
                let label = self.expr_as(&case.label, ty, "a label");
                if !label.is_known() {
                    self.error(
                        "not-constant",
                        label.span,
                        "a label must be known at compile time",
                        "not constant",
                    );
                }
                if let Some(value) = label.value() {
                    if seen.contains(value) {
                        self.error(
                            "duplicate-label",
                            label.span,
                            "this value has a case already",
                            "given again",
                        );
                    }
                    seen.push(value.clone());
                }
                labels.push(label);
            }
            let Some(body) = &case.body else { continue };
            let body = self.block(body);
            if with_default {
                default = body;
            } else {
                done.push((std::mem::take(&mut labels), body));
            }
        }
        StmtKind::Switch {
            on,
            cases: done,
            default,
        }
    }

    fn return_statement(&mut self, value: Option<&'a ast::Expr>, span: Span) -> Option<StmtKind> {
        if self.inside == Inside::Parser {
            self.misplaced("return", span, "functions, actions and controls");
            return None;
        }
        let wanted = self.result.clone().unwrap_or(Ty::Void);
        match (value, wanted) {
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

    fn for_statement(
        &mut self,
        init: &'a [ast::Statement],
        condition: &'a ast::Expr,
        update: &'a [ast::Statement],
        body: &'a ast::Statement,
    ) -> StmtKind {
        let init = self.statements(init);
        let condition = self.expr_as(condition, &Ty::Bool, "a condition");
        let update = self.statements(update);
        let body = self.loop_body(body);
        StmtKind::For {
            init,
            condition,
            update,
            body,
        }
    }

    fn loop_body(&mut self, body: &'a ast::Statement) -> Vec<Stmt> {
        self.loops += 1;
        let body = self.branch(body);
        self.loops -= 1;
        body
    }

    fn for_in(
        &mut self,
        variable: &'a ast::ForVariable,
        collection: &'a ast::Expr,
        body: &'a ast::Statement,
    ) -> Option<StmtKind> {
        let variable = match variable {
            ast::ForVariable::Declared(declaration) => {
                let ast::DeclarationKind::Variable { ty, .. } = &declaration.kind else {
                    return None;
                };
                self.variable(declaration, ty, None);
                let ty = match self.def(declaration.id).map(|d| &d.kind) {
                    Some(DefKind::Variable(ty)) => ty.clone(),
                    _ => Ty::Error,
                };
                Expr {
                    kind: ExprKind::Var(declaration.id),
                    ty,
                    span: declaration.name.span,
                }
            }
            ast::ForVariable::Existing(expr) => {
                let checked = self.expr(expr);
                self.require_writable(&checked, "a loop's variable");
                checked
            }
        };
        let collection = self.collection(collection, &variable.ty);
        let body = self.loop_body(body);
        if variable.ty.is_error() || collection.ty.is_error() {
            return None;
        }
        Some(StmtKind::ForIn {
            variable,
            collection,
            body,
        })
    }

    fn collection(&mut self, collection: &'a ast::Expr, element: &Ty) -> Expr {
        if let ast::ExprKind::Range { low, high } = &collection.kind {
            let numeric = matches!(element, Ty::Bit(_) | Ty::Signed(_) | Ty::Error);
            if !numeric && !element.is(NamedKind::SerialisableEnum) {
                self.error(
                    "type-mismatch",
                    collection.span,
                    format!("a variable of type `{element}` cannot run through a range"),
                    "expected bit<W> or int<W>",
                );
                return Expr::error(collection.span);
            }
            let low = self.expr_as(low, element, "a range's first value");
            let high = self.expr_as(high, element, "a range's last value");
            if low.ty.is_error() || high.ty.is_error() {
                return Expr::error(collection.span);
            }
            return Expr {
                kind: ExprKind::Range(low.into(), high.into()),
                ty: element.clone(),
                span: collection.span,
            };
        }
        let found = self.value(collection);
        let what = "each element";
        match found.ty.clone() {
            Ty::Error => found,
            Ty::ListExpr(_) => {
                let ty = Ty::List(element.clone().into());
                self.coerce(found, &ty, "the collection")
            }
            Ty::Stack(of, _) | Ty::List(of) if *of == *element => found,
            Ty::Tuple(of) if of.iter().all(|t| t == element) => found,
            Ty::Stack(of, _) | Ty::List(of) => {
                self.mismatch(found.span, element, &of, what);
                Expr::error(found.span)
            }
            other => {
                self.error(
                    "type-mismatch",
                    found.span,
                    format!("a loop cannot run through a value of type `{other}`"),
                    "expected a range, a list or a header stack",
                );
                Expr::error(found.span)
            }
        }
    }
}

/// Whether every way through the statements ends in `return` or `exit`.
pub(super) fn always_returns(statements: &[Stmt]) -> bool {
    statements.iter().any(|s| match &s.kind {
        StmtKind::Return(_) | StmtKind::Exit => true,
        StmtKind::Block(body) => always_returns(body),
        StmtKind::If {
            condition,
            then,
            otherwise,
        } => match infer::known_bool(condition) {
            Some(true) => always_returns(then),
            Some(false) => always_returns(otherwise),
            None => always_returns(then) && always_returns(otherwise),
        },
        StmtKind::Switch { cases, default, .. } => {
            cases.iter().all(|(_, body)| always_returns(body)) && always_returns(default)
        }
        _ => false,
    })
}
