//! Parsers, and the statements of their states.

use super::body::Kind;
use super::control::{BlockInstance, declared};
use super::parser::simplified;
use super::parser::{applied_parser, branches_apply_parser};
use super::{Body, Env, Scope};
use crate::ast::DeclId;
use crate::hir::{ParserBody, Stmt, StmtKind, Target};
use p4_ir::{ParserId, ParserState, SourceLoc, StateTarget, Transition};
use std::collections::{HashMap, HashSet};
use std::mem;
use std::ops::{Deref, DerefMut};

/// The states of the parser under construction.
#[derive(Debug, Default)]
pub(super) struct States {
    pub done: Vec<ParserState>,
    pub open: Open,
}

/// The declared state being lowered. It becomes several states if it applies parsers.
#[derive(Debug, Default)]
pub(super) struct Open {
    /// Its number.
    pub declared: usize,
    /// The state to which statements are currently added.
    pub current: usize,
    /// How often it was split.
    pub splits: u32,
}

impl States {
    /// Adds a state. Returns its number.
    pub fn add(&mut self, name: String, loc: SourceLoc) -> usize {
        self.done.push(ParserState {
            name,
            body: Vec::new(),
            transition: Transition::Goto(StateTarget::Reject),
            loc,
        });
        self.done.len() - 1
    }

    /// A number for the parts into which the declared state is split here.
    pub fn split(&mut self) -> u32 {
        self.open.splits += 1;
        self.open.splits
    }

    /// Adds a state that is part of the declared one: `start'1`, `start.if2`, `start.else2`.
    pub fn part(&mut self, what: &str, split: u32, loc: SourceLoc) -> usize {
        let declared = &self.done[self.open.declared].name;
        self.add(format!("{declared}{what}{split}"), loc)
    }
}

/// The body of a state, which becomes several states if it applies parsers.
pub(super) struct StateBody<'b, 's, 'h, 'a> {
    pub body: Body<'s, 'h, 'a>,
    pub states: &'b mut States,
}

impl<'s, 'h, 'a> Deref for StateBody<'_, 's, 'h, 'a> {
    type Target = Body<'s, 'h, 'a>;

    fn deref(&self) -> &Self::Target {
        &self.body
    }
}

impl DerefMut for StateBody<'_, '_, '_, '_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.body
    }
}

impl Body<'_, '_, '_> {
    /// Adds the states of a parser. Returns the statements before them, and their start. `accept` is the target of the
    /// parser's `accept`.
    pub(super) fn states(
        mut self,
        states: &mut States,
        parser: &ParserBody,
        accept: StateTarget,
        prefix: &str,
    ) -> (Vec<p4_ir::Stmt>, StateTarget) {
        self.statements(&parser.locals);
        let init = mem::take(&mut self.sink);
        let mut inner = StateBody { body: self, states };
        (init, inner.lower_states(parser, accept, prefix))
    }
}

impl StateBody<'_, '_, '_, '_> {
    pub(super) fn statements(&mut self, statements: &[Stmt]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        let span = statement.span;
        self.at = self.loc(span);
        match &statement.kind {
            StmtKind::Block(body) => self.statements(body),
            StmtKind::If { arms, otherwise } if branches_apply_parser(arms, otherwise) => {
                self.state_branches(arms, otherwise, span);
            }
            StmtKind::Call(expr) => match applied_parser(expr) {
                Some(call) => self.apply_parser(call, expr.span),
                None => self.body.statement(statement),
            },
            _ => self.body.statement(statement),
        }
    }

    fn lower_states(
        &mut self,
        body: &ParserBody,
        accept: StateTarget,
        prefix: &str,
    ) -> StateTarget {
        let mut numbers = HashMap::new();
        for state in &body.states {
            let loc = self.loc(state.span);
            let number = self.states.add(format!("{prefix}{}", state.name), loc);
            numbers.insert(state.id, number as u32);
        }
        let to = |target: Target| match target {
            Target::Accept => accept,
            Target::Reject => StateTarget::Reject,
            Target::State(id) => numbers
                .get(&id)
                .map_or(StateTarget::Reject, |n| StateTarget::State(*n)),
        };
        for state in &body.states {
            let Some(number) = numbers.get(&state.id) else {
                continue;
            };
            let open = Open {
                declared: *number as usize,
                current: *number as usize,
                splits: 0,
            };
            let outer = mem::replace(&mut self.states.open, open);
            self.statements(&state.body);
            self.at = self.loc(state.span);
            let transition = self.transition(&state.transition, &to);
            self.leave(transition);
            self.states.open = outer;
        }
        let start = body.states.iter().find(|s| &*s.name == "start");
        start.map_or(StateTarget::Reject, |s| to(Target::State(s.id)))
    }

    /// Completes the current state with the statements since it began, and its transition.
    pub(super) fn leave(&mut self, transition: Transition) {
        let state = &mut self.states.done[self.states.open.current];
        state.body = mem::take(&mut self.body.sink);
        state.transition = transition;
    }
}

impl Scope<'_, '_, '_> {
    /// Lowers the parser of an instance. The places of its parameters are in `env`.
    pub(super) fn lower_parser(&mut self, block: &BlockInstance, mut env: Env) -> ParserId {
        let span = self.span(block.named.id);
        let mut states = States::default();
        states.add("start".into(), self.loc(span));
        let given: HashSet<DeclId> = env.bindings.keys().copied().collect();
        if let Some(body) = self.parser_body(block.named.id) {
            let inner = self.body_of(&mut env, Kind::Parser);
            let (init, start) = inner.states(&mut states, &body, StateTarget::Accept, "");
            let first = &mut states.done[0];
            first.body = init;
            first.transition = Transition::Goto(start);
        }
        block.declared.replace(declared(&env, &given));
        let parser = p4_ir::Parser {
            name: block.path.clone(),
            states: simplified(states.done),
            loc: self.loc(span),
        };
        self.out.parsers.push(parser);
        ParserId(self.out.parsers.len() as u32 - 1)
    }
}
