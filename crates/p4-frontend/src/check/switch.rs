//! `switch`.

use super::{Body, Inside};
use crate::ast::{self, DeclId};
use crate::diagnostic::Diagnostic;
use crate::hir::{DefKind, Expr, NamedKind, Stmt, StmtKind, Ty};
use crate::span::Span;
use std::collections::HashSet;

impl<'a> Body<'_, 'a> {
    pub(super) fn switch(
        &mut self,
        subject: &'a ast::Expr,
        cases: &'a [ast::SwitchCase],
        span: Span,
    ) -> Option<StmtKind> {
        let subject = self.switch_subject(subject);
        if self.inside == Inside::Parser {
            self.misplaced("switch", span, "controls, actions and functions");
        }
        self.check_default_last(cases, subject.span);
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
                    format!("a switch on `{ty}` is not allowed"),
                    "expected bit<W>, int<W>, bool, error, an enum or `t.apply().action_run`",
                );
                None
            }
        }
    }

    /// The subject of a switch, which is the only valid position of `action_run`.
    fn switch_subject(&mut self, subject: &'a ast::Expr) -> Expr {
        let ast::ExprKind::Member { base, name } = &subject.kind else {
            return self.value(subject);
        };
        if name.as_str() != "action_run" || !matches!(base.kind, ast::ExprKind::Call { .. }) {
            return self.value(subject);
        }
        let applied = self.expr(base);
        match applied.ty.clone() {
            Ty::ApplyResult(table, name) => Expr {
                ty: Ty::ActionEnum(table, name),
                span: subject.span,
                ..applied
            },
            _ => self.member_of(applied, name, subject.span),
        }
    }

    fn check_default_last(&mut self, cases: &[ast::SwitchCase], subject: Span) {
        let is_default = |c: &ast::SwitchCase| matches!(c.label.kind, ast::ExprKind::Default);
        let Some(at) = cases.iter().position(is_default) else {
            return;
        };
        if let Some(next) = cases.get(at + 1) {
            self.report(
                Diagnostic::error(
                    "label-after-default",
                    "`default` must be the last label of a switch, and occur only once",
                )
                .label(subject, "the switch is on this")
                .label(cases[at].label.span, "not the last")
                .label(next.label.span, "follows it"),
            );
        }
    }

    fn switch_action(&mut self, table: DeclId, cases: &'a [ast::SwitchCase]) -> StmtKind {
        let listed: Vec<DeclId> = match self.hir.kind(table) {
            Some(DefKind::Table(t)) => t.actions.iter().map(|a| a.action).collect(),
            _ => Vec::new(),
        };
        let mut done: Vec<(Vec<DeclId>, Vec<Stmt>)> = Vec::new();
        let mut default = Vec::new();
        let mut labels = Vec::new();
        let mut seen = HashSet::new();
        let mut with_default = false;
        for case in cases {
            if matches!(case.label.kind, ast::ExprKind::Default) {
                with_default = true;
            } else if let Some(id) = self.action_label(&case.label, &listed) {
                if !seen.insert(id) {
                    self.error(
                        "duplicate-label",
                        case.label.span,
                        "this action has a case already",
                        "given again",
                    );
                }
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
        let mut seen = HashSet::new();
        let mut with_default = false;
        for case in cases {
            if matches!(case.label.kind, ast::ExprKind::Default) {
                with_default = true;
            } else {
                let label = self.expr(&case.label);
                let label = self.compared(label, ty, "a label", Some(on.span));
                if !label.is_known() {
                    self.error(
                        "not-constant",
                        label.span,
                        "a label must be known at compile time",
                        "not constant",
                    );
                }
                if label.value().is_some_and(|v| !seen.insert(v.clone())) {
                    self.error(
                        "duplicate-label",
                        label.span,
                        "this value has a case already",
                        "given again",
                    );
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
}
