//! Parsers: states and transitions.

use super::ir::{load, part};
use super::{Body, Lowerer};
use crate::ast::DeclId;
use crate::hir::{
    self, Call, Callee, DefKind, Expr, ExprKind, IfArm, NamedKind, ParserBody, Stmt, StmtKind,
    Target, Ty,
};
use p4_ir::{KeyMatch, ParserState, SelectCase, StateTarget, Transition};
use std::rc::Rc;

impl Body<'_, '_, '_> {
    pub(super) fn transition(
        &mut self,
        transition: &hir::Transition,
        to: &dyn Fn(Target) -> StateTarget,
    ) -> Transition {
        let (keys, cases) = match transition {
            hir::Transition::Goto(target) => return Transition::Goto(to(*target)),
            hir::Transition::Select { keys, cases } => (keys, cases),
        };
        let mut lowered = Vec::new();
        let mut values = Vec::new();
        for (i, key) in keys.iter().enumerate() {
            let before = values.len();
            self.select_key(key, &mut values);
            if keys[i + 1..].iter().any(Expr::has_effects) {
                for value in &mut values[before..] {
                    *value = self.spilled(value.clone(), key.span);
                }
            }
        }
        for case in cases {
            lowered.push(self.select_case(case, keys, to(case.to)));
        }
        Transition::Select {
            keys: values,
            cases: lowered,
        }
    }

    fn select_key(&mut self, key: &Expr, values: &mut Vec<p4_ir::Expr>) {
        let ty = self.ty(&key.ty);
        if self.scalar_type(&ty).is_some() {
            return values.push(self.scalar(key));
        }
        if let ExprKind::List(members) = &key.kind {
            return members.iter().for_each(|m| self.select_key(m, values));
        }
        let at = self.materialise(key);
        self.loads(&at, &ty, values);
    }

    fn select_case(&mut self, case: &hir::Case, keys: &[Expr], to: StateTarget) -> SelectCase {
        let mut lowered = SelectCase {
            sets: Vec::new(),
            value_sets: Vec::new(),
            to,
            loc: self.loc(case.span),
        };
        let types: Vec<Ty> = keys.iter().map(|key| self.ty(&key.ty)).collect();
        match case.sets.as_slice() {
            [set] => self.select_set(set, &types, &mut lowered),
            sets => {
                for (set, ty) in sets.iter().zip(types) {
                    self.select_set(set, &[ty], &mut lowered);
                }
            }
        }
        lowered
    }

    /// Adds a set for keys of these types. There are several types only for a value set.
    fn select_set(&mut self, set: &Expr, types: &[Ty], case: &mut SelectCase) {
        let first = case.sets.len();
        if let Some(super::Object::ValueSet(id)) = self.object(set) {
            for ty in types {
                let any = Expr {
                    kind: ExprKind::Any,
                    ty: ty.clone(),
                    ..set.clone()
                };
                self.key_match(&any, ty, &mut case.sets);
            }
            case.value_sets.push(p4_ir::InValueSet {
                set: id,
                keys: first..case.sets.len(),
            });
            return;
        }
        for ty in types {
            match (&set.kind, self.hir.members(ty)) {
                (ExprKind::List(of), Some(members)) => {
                    for (set, ty) in of.iter().zip(members) {
                        self.select_set(set, &[ty], case);
                    }
                }
                _ => self.key_match(set, ty, &mut case.sets),
            }
        }
    }

    /// A keyset in the IR's form, one for each scalar of its type.
    pub(super) fn key_match(&mut self, set: &Expr, ty: &Ty, sets: &mut Vec<KeyMatch>) {
        if self.scalar_type(ty).is_none() {
            let members = self.hir.members(ty).unwrap_or_default();
            match &set.kind {
                ExprKind::List(of) => {
                    for (set, ty) in of.iter().zip(&members) {
                        self.key_match(set, ty, sets);
                    }
                }
                ExprKind::Any => {
                    for ty in &members {
                        let any = Expr {
                            ty: ty.clone(),
                            ..set.clone()
                        };
                        self.key_match(&any, ty, sets);
                    }
                }
                _ => self.unsupported(set.span, "this set"),
            }
            return;
        }
        sets.push(match &set.kind {
            ExprKind::Any => KeyMatch::Any,
            ExprKind::Mask(value, mask) => {
                let value = self.scalar(value);
                KeyMatch::Mask(value, self.scalar(mask))
            }
            ExprKind::Range(low, high) => {
                let low = self.scalar(low);
                KeyMatch::Range(low, self.scalar(high))
            }
            _ => KeyMatch::Value(self.scalar(set)),
        });
    }
}

impl Lowerer<'_, '_> {
    pub(super) fn parser_body(&self, id: DeclId) -> Option<Rc<ParserBody>> {
        match self.hir.kind(id)? {
            DefKind::Parser(parser) => parser.of.body.clone(),
            _ => None,
        }
    }

    fn loads(&mut self, at: &p4_ir::Location, ty: &Ty, values: &mut Vec<p4_ir::Expr>) {
        if let Some(scalar) = self.scalar_type(ty) {
            return values.push(load(at, scalar));
        }
        let members = self.hir.members(ty).unwrap_or_default();
        for (i, member) in members.iter().enumerate() {
            self.loads(&part(at, ty, i), member, values);
        }
    }
}

/// Removes states that only go to another state, and merges the first state with its successor if no other state leads
/// there.
pub(super) fn simplified(mut states: Vec<ParserState>) -> Vec<ParserState> {
    for i in 0..states.len() {
        let mut transition = states[i].transition.clone();
        targets(&mut transition).for_each(|to| *to = destination(&states, *to));
        states[i].transition = transition;
    }
    join_first(&mut states);
    let mut used = vec![false; states.len()];
    let mut waiting = vec![0];
    while let Some(i) = waiting.pop() {
        if std::mem::replace(&mut used[i], true) {
            continue;
        }
        for to in targets(&mut states[i].transition) {
            if let StateTarget::State(n) = to {
                waiting.push(*n as usize);
            }
        }
    }
    let mut numbers = Vec::new();
    let mut next = 0;
    for used in &used {
        numbers.push(next);
        next += u32::from(*used);
    }
    let kept = states.into_iter().zip(used).filter(|(_, used)| *used);
    let mut kept: Vec<ParserState> = kept.map(|(state, _)| state).collect();
    for state in &mut kept {
        for to in targets(&mut state.transition) {
            if let StateTarget::State(n) = to {
                *n = numbers[*n as usize];
            }
        }
    }
    kept
}

fn targets(transition: &mut Transition) -> Box<dyn Iterator<Item = &mut StateTarget> + '_> {
    match transition {
        Transition::Goto(to) => Box::new(std::iter::once(to)),
        Transition::Select { cases, .. } => Box::new(cases.iter_mut().map(|c| &mut c.to)),
    }
}

/// The final target of a transition. A cycle of empty states is left unchanged.
fn destination(states: &[ParserState], to: StateTarget) -> StateTarget {
    let mut at = to;
    for _ in 0..states.len() {
        let StateTarget::State(n) = at else { return at };
        match &states[n as usize] {
            ParserState {
                body,
                transition: Transition::Goto(next),
                ..
            } if body.is_empty() => at = *next,
            _ => return at,
        }
    }
    to
}

fn join_first(states: &mut [ParserState]) {
    let Transition::Goto(StateTarget::State(second)) = states[0].transition else {
        return;
    };
    let second = second as usize;
    let entered = states.iter_mut().enumerate().any(|(i, state)| {
        let leads = |to: &StateTarget| *to == StateTarget::State(second as u32);
        i != 0 && targets(&mut state.transition).any(|to| leads(to))
    });
    if entered || second == 0 {
        return;
    }
    let joined = states[second].clone();
    states[0].body.extend(joined.body);
    states[0].transition = joined.transition;
}

/// Whether a branch of an `if` applies a parser.
pub(super) fn branches_apply_parser(arms: &[IfArm], otherwise: &[Stmt]) -> bool {
    arms.iter().any(|arm| statements_apply_parser(&arm.then)) || statements_apply_parser(otherwise)
}

fn statements_apply_parser(statements: &[Stmt]) -> bool {
    statements.iter().any(|statement| match &statement.kind {
        StmtKind::Call(call) => applied_parser(call).is_some(),
        StmtKind::Block(body) => statements_apply_parser(body),
        StmtKind::If { arms, otherwise } => branches_apply_parser(arms, otherwise),
        _ => false,
    })
}

/// The call, if it applies a parser.
pub(super) fn applied_parser(expr: &Expr) -> Option<&Call> {
    let ExprKind::Call(call) = &expr.kind else {
        return None;
    };
    let applies = match &call.callee {
        Callee::Instance(object) => object.ty.is(NamedKind::Parser),
        Callee::Anonymous(ty) => ty.is(NamedKind::Parser),
        _ => false,
    };
    applies.then_some(call)
}
