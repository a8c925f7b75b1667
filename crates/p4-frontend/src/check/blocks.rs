//! Parsers and controls.

use super::params::Of;
use super::{Checker, Facts, Inside, suggest};
use crate::ast::{self, DeclId, DeclarationKind, Symbol};
use crate::diagnostic::Diagnostic;
use crate::hir::{
    Case, Control, ControlBody, DefKind, Expr, Generic, Parser, ParserBody, State, Stmt, StmtKind,
    Target, Transition, Ty, ValueSet,
};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

impl<'a> Checker<'a> {
    pub(super) fn parser(
        &mut self,
        d: &'a ast::Declaration,
        parser: &'a ast::Parser,
    ) -> DefKind<'a> {
        self.scoped(|c| {
            let type_params = c.type_params(&parser.type_params);
            let params = c.params(&parser.params, block_kind(parser.body.is_some()));
            let constructor_params = c.params(&parser.constructor_params, Of::ParserConstructor);
            let body = parser.body.as_ref().map(|body| {
                let body = c.within(Inside::Parser, |c| c.scoped(|c| c.parser_body(d, body)));
                Rc::new(body)
            });
            DefKind::Parser(Generic {
                type_params,
                of: Parser {
                    params,
                    constructor_params,
                    body,
                },
            })
        })
    }

    fn parser_body(&mut self, d: &'a ast::Declaration, body: &'a ast::ParserBody) -> ParserBody {
        let mut locals = Vec::new();
        for local in &body.locals {
            self.local(local, &mut locals);
        }
        let names = self.state_names(d, &body.states);
        let state = |s: &'a ast::State| self.state(s, &names);
        let states: Vec<State> = body.states.iter().map(state).collect();
        self.check_ends(d, &states);
        ParserBody { locals, states }
    }

    fn state_names(
        &mut self,
        d: &ast::Declaration,
        states: &'a [ast::State],
    ) -> HashMap<Symbol, DeclId> {
        let mut names: HashMap<Symbol, DeclId> = HashMap::new();
        for state in states {
            let name = state.name.as_str();
            if matches!(name, "accept" | "reject") {
                self.error(
                    "reserved-state",
                    state.name.span,
                    format!("state `{name}` already exists"),
                    "choose another name",
                );
            }
            if let Some(first) = names.get(&state.name.name).and_then(|id| self.def(*id)) {
                let first = first.span;
                self.report(
                    Diagnostic::error(
                        "duplicate-declaration",
                        format!("state `{name}` is declared twice"),
                    )
                    .label(state.name.span, "declared again")
                    .label(first, "first declared here"),
                );
                continue;
            }
            self.check_annotations(&state.annotations);
            self.define(state.id, &state.name, &state.annotations, DefKind::State);
            names.insert(state.name.name.clone(), state.id);
        }
        if !names.contains_key("start") {
            self.error(
                "no-start-state",
                d.name.span,
                format!("parser `{}` has no state `start`", d.name.name),
                "a parser starts in `start`",
            );
        }
        names
    }

    fn state(&mut self, state: &'a ast::State, names: &HashMap<Symbol, DeclId>) -> State {
        self.scoped(|c| {
            let body = c.body(Ty::Void).statements(&state.statements);
            let transition = match &state.transition {
                None => {
                    c.report(
                        Diagnostic::warning(
                            "no-transition",
                            format!(
                                "state `{}` ends without transition: reject",
                                state.name.name
                            ),
                        )
                        .label(state.name.span, "no transition"),
                    );
                    Transition::Goto(Target::Reject)
                }
                Some(ast::Transition::Direct(path)) => Transition::Goto(c.target(path, names)),
                Some(ast::Transition::Select {
                    subjects, cases, ..
                }) => c.select(subjects, cases, names),
            };
            State {
                id: state.id,
                name: state.name.name.clone(),
                body,
                transition,
                span: state.name.span,
            }
        })
    }

    fn select(
        &mut self,
        subjects: &'a [ast::Expr],
        cases: &'a [ast::SelectCase],
        names: &HashMap<Symbol, DeclId>,
    ) -> Transition {
        let keys: Vec<Expr> = subjects.iter().map(|s| self.select_key(s)).collect();
        let types: Vec<Ty> = keys.iter().map(|k| k.ty.clone()).collect();
        let all = keys.first().zip(keys.last());
        let all = all.map(|(first, last)| first.span.to(last.span));
        let mut checked = Vec::new();
        for case in cases {
            let to = self.target(&case.next, names);
            let sets = self.keysets(all).case(case, &types);
            if let Some(sets) = sets {
                checked.push(Case {
                    sets,
                    to,
                    span: case.span,
                });
            }
        }
        Transition::Select {
            keys,
            cases: checked,
        }
    }

    fn select_key(&mut self, subject: &'a ast::Expr) -> Expr {
        let key = self.value(subject);
        if key.ty == Ty::Int {
            self.error(
                "unknown-width",
                key.span,
                "the width of this value is not known",
                "give it a width, as in `8w1`",
            );
            return Expr::error(key.span);
        }
        let whole = self.hir.fields(&key.ty).is_some() || matches!(key.ty, Ty::Stack(..));
        if whole || matches!(key.ty, Ty::Varbit(_) | Ty::Defaults) {
            self.error(
                "bad-key",
                key.span,
                format!("a value of type `{}` cannot be selected on", key.ty),
                "expected bit<W>, int<W>, bool, error or an enum",
            );
            return Expr::error(key.span);
        }
        super::infer::settle(key)
    }

    pub(super) fn control(&mut self, control: &'a ast::Control) -> DefKind<'a> {
        self.scoped(|c| {
            let type_params = c.type_params(&control.type_params);
            let params = c.params(&control.params, block_kind(control.body.is_some()));
            let constructor_params = c.params(&control.constructor_params, Of::ControlConstructor);
            let body = control.body.as_ref().map(|body| {
                let body = c.within(Inside::Control, |c| c.scoped(|c| c.control_body(body)));
                Rc::new(body)
            });
            DefKind::Control(Generic {
                type_params,
                of: Control {
                    params,
                    constructor_params,
                    body,
                },
            })
        })
    }

    fn control_body(&mut self, body: &'a ast::ControlBody) -> ControlBody {
        let mut locals = Vec::new();
        for local in &body.locals {
            self.local(local, &mut locals);
        }
        let is_table = |l: &&ast::Declaration| matches!(l.kind, DeclarationKind::Table(_));
        let tables = body.locals.iter().filter(is_table).map(|l| l.id).collect();
        let is_action = |l: &&ast::Declaration| matches!(l.kind, DeclarationKind::Action { .. });
        let actions = body.locals.iter().filter(is_action).map(|l| l.id).collect();
        let apply = self.body(Ty::Void).block(&body.apply);
        ControlBody {
            locals,
            tables,
            actions,
            apply,
        }
    }

    fn local(&mut self, local: &'a ast::Declaration, locals: &mut Vec<Stmt>) {
        match &local.kind {
            DeclarationKind::Variable { ty, init } => {
                locals.push(self.variable(local, ty, init.as_ref()));
            }
            DeclarationKind::Instance(instance) => {
                self.instance(local, instance);
                locals.push(Stmt {
                    kind: StmtKind::Instantiate(local.id),
                    span: local.span,
                });
            }
            DeclarationKind::Table(table) => self.table(local, table),
            DeclarationKind::ValueSet { element, size } => {
                let written = element.span;
                let element = self.ty(element);
                let leaves = self.leaves(&element);
                if leaves
                    .iter()
                    .any(|ty| matches!(ty, Ty::Int | Ty::String | Ty::Varbit(_)))
                {
                    self.error(
                        "bad-value-set",
                        written,
                        format!("a value set cannot hold values of type `{element}`"),
                        "expected bit<W>, int<W>, bool, an enum or a struct of such",
                    );
                }
                let size = self.expr(size);
                if !size.ty.is_numeric() && !size.ty.is_error() || !size.is_known() {
                    self.error(
                        "not-constant",
                        size.span,
                        "a value set's size must be an integer known at compile time",
                        format!("found a value of type `{}`", size.ty),
                    );
                }
                let kind = DefKind::ValueSet(ValueSet { element, size });
                self.declare(local.id, &local.name, &local.annotations, kind);
                locals.push(Stmt {
                    kind: StmtKind::Instantiate(local.id),
                    span: local.span,
                });
            }
            DeclarationKind::Constant { .. }
            | DeclarationKind::Action { .. }
            | DeclarationKind::Function(_) => self.declaration(local),
            _ => self.error(
                "misplaced-declaration",
                local.name.span,
                "this is only allowed at the top level",
                "not allowed here",
            ),
        }
    }
}

impl<'a> Facts<'a> {
    /// Checks that some path from `start` leads to `accept` or `reject`.
    fn check_ends(&mut self, d: &ast::Declaration, states: &[State]) {
        let Some(start) = states.iter().find(|s| &*s.name == "start") else {
            return;
        };
        let by_id: HashMap<DeclId, &State> = states.iter().map(|s| (s.id, s)).collect();
        let mut seen = HashSet::from([start.id]);
        let mut next = vec![start.id];
        while let Some(id) = next.pop() {
            let Some(state) = by_id.get(&id) else {
                continue;
            };
            let targets: Vec<Target> = match &state.transition {
                Transition::Goto(to) => vec![*to],
                Transition::Select { cases, .. } => cases.iter().map(|c| c.to).collect(),
            };
            for target in targets {
                match target {
                    Target::State(to) if seen.insert(to) => next.push(to),
                    Target::State(_) => {}
                    Target::Accept | Target::Reject => return,
                }
            }
        }
        self.error(
            "endless-parser",
            d.name.span,
            format!("parser `{}` never reaches accept or reject", d.name.name),
            "no path through its states ends",
        );
    }

    fn target(&mut self, path: &ast::Path, names: &HashMap<Symbol, DeclId>) -> Target {
        match (path.name.as_str(), names.get(&path.name.name)) {
            ("accept", _) => Target::Accept,
            ("reject", _) => Target::Reject,
            (_, Some(id)) => Target::State(*id),
            (name, None) => {
                let mut valid: Vec<&str> = names.keys().map(|n| &**n).collect();
                valid.extend(["accept", "reject"]);
                valid.sort_unstable();
                valid.dedup();
                let mut diagnostic =
                    Diagnostic::error("unknown-state", format!("there is no state `{name}`"))
                        .label(path.span, "not declared in this parser");
                diagnostic = match suggest::nearest(name, valid.iter().copied()) {
                    Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                    None => diagnostic.note(format!("valid: {}", suggest::listed(valid))),
                };
                self.report(diagnostic);
                Target::Reject
            }
        }
    }
}

fn block_kind(with_body: bool) -> Of {
    if with_body { Of::Block } else { Of::BlockType }
}
