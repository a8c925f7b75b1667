//! Sub-parsers, which are inlined where they are applied.
//!
//! A state that applies a parser is split: it goes to the states of the sub-parser, and these go to a new state for the
//! rest. Under a condition, the state ends in a `select` on the condition, with a state for each branch; all branches
//! go to a new state for the rest. `if` is the only statement with a body in a parser: loops and `switch` are not
//! allowed there.

use super::body::Kind;
use super::control::declared;
use super::ir::ir_bool;
use super::states::StateBody;
use crate::ast::DeclId;
use crate::hir::{Call, DefKind, IfArm, Stmt};
use crate::span::Span;
use p4_ir::{KeyMatch, SelectCase, StateTarget, Transition};
use std::collections::HashSet;

/// The maximum number of states of a parser. Parsers that each apply two others double the states with each level.
const MAX_STATES: usize = 1 << 14;

impl StateBody<'_, '_, '_, '_> {
    /// Inlines the states of a sub-parser. The rest continues in a new state.
    pub(super) fn apply_parser(&mut self, call: &Call, span: Span) {
        let Some(block) = self.applied(&call.callee, span) else {
            return;
        };
        if !self.may_split(span) || !self.may_nest(span) {
            return;
        }
        let hir = self.hir;
        let Some(DefKind::Parser(parser)) = hir.kind(block.named.id) else {
            return;
        };
        let Some(body) = &parser.of.body else {
            return;
        };
        let kept = block.env.borrow().clone();
        let first = kept.is_none();
        let mut env = kept.unwrap_or_else(|| self.block_env(&block));
        let slots = self.bind(&parser.of.params, &call.args, &mut env, false, span);
        let given: HashSet<DeclId> = env.bindings.keys().copied().collect();
        let targets = self.copy_in(&slots, &call.args, span);
        let loc = self.loc(span);
        let split = self.states.split();
        let after = self.states.part("'", split, loc);
        let prefix = format!("{}.", block.path);
        let inner = self.body.body_of(&mut env, Kind::Parser);
        let accept = StateTarget::State(after as u32);
        let (init, start) = inner.states(self.states, body, accept, &prefix);
        if first {
            block.declared.replace(declared(&env, &given));
        }
        block.env.replace(Some(env));
        self.sink.extend(init);
        self.leave(Transition::Goto(start));
        self.states.open.current = after;
        self.copy_out(&slots, &targets);
    }

    /// `if` with a state for each branch.
    pub(super) fn state_branches(&mut self, arms: &[IfArm], otherwise: &[Stmt], span: Span) {
        let loc = self.loc(span);
        let split = self.states.split();
        let after = self.states.part("'", split, loc);
        for arm in arms {
            if !self.may_split(arm.span) {
                return;
            }
            let loc = self.loc(arm.span);
            self.at = loc;
            let condition = self.scalar(&arm.condition);
            let split = self.states.split();
            let then = self.states.part(".if", split, loc);
            let other = self.states.part(".else", split, loc);
            let case = |set, to: usize| SelectCase {
                sets: vec![set],
                value_sets: Vec::new(),
                to: StateTarget::State(to as u32),
                loc,
            };
            let cases = vec![
                case(KeyMatch::Value(ir_bool(true)), then),
                case(KeyMatch::Any, other),
            ];
            self.leave(Transition::Select {
                keys: vec![condition],
                cases,
            });
            self.branch(then, &arm.then, after);
            self.states.open.current = other;
        }
        let other = self.states.open.current;
        self.branch(other, otherwise, after);
        self.states.open.current = after;
    }

    /// Lowers a branch that begins in one state and leads to another.
    fn branch(&mut self, first: usize, statements: &[Stmt], after: usize) {
        self.states.open.current = first;
        self.depth.open += 1;
        self.statements(statements);
        self.depth.open -= 1;
        self.leave(Transition::Goto(StateTarget::State(after as u32)));
    }

    /// Whether the parser may have more states. Reports an error if it has too many.
    fn may_split(&mut self, span: Span) -> bool {
        let fits = self.states.done.len() <= MAX_STATES;
        if !fits {
            let message = format!("a parser has more than {MAX_STATES} states");
            self.too_large(span, message);
        }
        fits
    }
}
