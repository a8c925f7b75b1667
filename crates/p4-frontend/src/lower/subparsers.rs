//! Sub-parsers: inlined where they are applied.
//!
//! A state that applies a parser is split: it goes to the states of the sub-parser, and these go to a new state for
//! what follows. Under a condition the state ends in a `select` on the condition, with a state for each branch; all
//! branches go to one new state for what follows. `if` is the only statement of a parser with a body of its own: loops
//! and `switch` cannot stand there.

use super::Lowerer;
use super::control::{BlockInstance, declared};
use super::expressions::ir_bool;
use crate::ast::DeclId;
use crate::hir::{Callee, DefKind, Expr, ExprKind, IfArm, NamedKind, Stmt, StmtKind};
use crate::span::Span;
use p4_ir::{KeyMatch, SelectCase, StateTarget, Transition};
use std::collections::HashSet;
use std::rc::Rc;

/// States that a parser may have. Parsers that each apply two others double the states with each level.
const MAX_STATES: usize = 1 << 14;

impl Lowerer<'_, '_> {
    /// Inlines the states of a sub-parser. What follows it goes to a state of its own.
    pub(super) fn apply_parser(
        &mut self,
        block: &Rc<BlockInstance>,
        args: &[Option<Expr>],
        span: Span,
    ) {
        if !self.may_split(span) || !self.may_nest(span) {
            return;
        }
        let hir = self.hir;
        let Some(DefKind::Parser(parser)) = hir.def(block.named.id).map(|d| &d.kind) else {
            return;
        };
        let Some(body) = parser.of.body.clone() else {
            return;
        };
        let kept = block.env.borrow().clone();
        let first = kept.is_none();
        let mut env = kept.unwrap_or_else(|| self.block_env(block));
        let slots = self.bind(&parser.of.params, args, &mut env, false, span);
        let given: HashSet<DeclId> = env.bindings.keys().copied().collect();
        let targets = self.copy_in(&slots, args, span);
        let split = self.split();
        let after = self.part("'", split, span);
        let prefix = format!("{}.", block.path);
        let ((start, init), env) = self.within(env, |l| {
            let init = l.collect(|l| l.statements(&body.locals));
            let start = l.lower_states(&body, StateTarget::State(after as u32), &prefix);
            (start, init)
        });
        if first {
            block.declared.replace(declared(&env, &given));
        }
        block.env.replace(Some(env));
        self.sinks.last_mut().expect("a body").extend(init);
        self.leave_state(Transition::Goto(start));
        self.states.open.current = after;
        self.copy_out(&slots, &targets);
    }

    /// `if` with a state for each branch.
    pub(super) fn state_branches(&mut self, arms: &[IfArm], otherwise: &[Stmt], span: Span) {
        let split = self.split();
        let after = self.part("'", split, span);
        for arm in arms {
            if !self.may_split(arm.span) {
                return;
            }
            self.at = self.loc(arm.span);
            let condition = self.scalar(&arm.condition);
            let split = self.split();
            let then = self.part(".if", split, arm.span);
            let other = self.part(".else", split, arm.span);
            let case = |set, to: usize| SelectCase {
                sets: vec![set],
                value_sets: Vec::new(),
                to: StateTarget::State(to as u32),
                loc: self.at,
            };
            let cases = vec![
                case(KeyMatch::Value(ir_bool(true)), then),
                case(KeyMatch::Any, other),
            ];
            self.leave_state(Transition::Select {
                keys: vec![condition],
                cases,
            });
            self.branch_state(then, &arm.then, after);
            self.states.open.current = other;
        }
        let other = self.states.open.current;
        self.branch_state(other, otherwise, after);
        self.states.open.current = after;
    }

    /// Lowers a branch that begins in one state and leads to another.
    fn branch_state(&mut self, first: usize, statements: &[Stmt], after: usize) {
        self.states.open.current = first;
        self.sinks.push(Vec::new());
        self.statements(statements);
        self.leave_state(Transition::Goto(StateTarget::State(after as u32)));
        self.sinks.pop();
    }

    /// Whether the parser may get more states; an error if it has too many.
    fn may_split(&mut self, span: Span) -> bool {
        let fits = self.states.done.len() <= MAX_STATES;
        if !fits {
            let message = format!("a parser has more than {MAX_STATES} states");
            self.too_large(span, message);
        }
        fits
    }

    /// A number for the parts that the declared state is split into here.
    fn split(&mut self) -> u32 {
        self.states.open.splits += 1;
        self.states.open.splits
    }

    /// A new state that is part of the declared one: `start'1`, `start.if2`, `start.else2`.
    fn part(&mut self, what: &str, split: u32, span: Span) -> usize {
        let declared = &self.states.done[self.states.open.declared].name;
        let name = format!("{declared}{what}{split}");
        self.new_state(name, span)
    }
}

/// Whether a branch of an `if` applies a parser.
pub(super) fn branches_apply_parser(arms: &[IfArm], otherwise: &[Stmt]) -> bool {
    arms.iter().any(|arm| statements_apply_parser(&arm.then)) || statements_apply_parser(otherwise)
}

fn statements_apply_parser(statements: &[Stmt]) -> bool {
    statements.iter().any(|statement| match &statement.kind {
        StmtKind::Call(call) => applies_parser(call),
        StmtKind::Block(body) => statements_apply_parser(body),
        StmtKind::If { arms, otherwise } => branches_apply_parser(arms, otherwise),
        _ => false,
    })
}

fn applies_parser(expr: &Expr) -> bool {
    let ExprKind::Call(call) = &expr.kind else {
        return false;
    };
    match &call.callee {
        Callee::Instance(object) => object.ty.is(NamedKind::Parser),
        Callee::Anonymous(ty) => ty.is(NamedKind::Parser),
        _ => false,
    }
}
