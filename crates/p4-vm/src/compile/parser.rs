//! Parsers: states, transitions, and statements that only parsers have.

use super::{Compiler, Label, expr};
use crate::Architecture;
use crate::code::*;
use p4_ir::{
    CORE_ERRORS, Expr, ExprKind, InValueSet, KeyMatch, ParserId, Scalar, SelectCase, StateTarget,
    StmtKind, Transition,
};

/// Where a parser's states begin.
struct States {
    labels: Vec<Label>,
    accept: Label,
    reject: Label,
}

impl States {
    /// The label of a transition's target.
    fn label(&self, to: StateTarget) -> Label {
        match to {
            StateTarget::State(i) => self.labels[i as usize],
            StateTarget::Accept => self.accept,
            StateTarget::Reject => self.reject,
        }
    }
}

impl<A: Architecture> Compiler<'_, A> {
    /// Translates a parser. Execution begins with its first state.
    pub(super) fn parser(&mut self, id: ParserId) {
        let parser = &self.program[id];
        let (accept, reject, timeout) = (self.label(), self.label(), self.label());
        let states = States {
            labels: parser.states.iter().map(|_| self.label()).collect(),
            accept,
            reject,
        };
        // Every cycle of states contains a state that is entered from itself or from a later one.
        let mut revisited = vec![false; parser.states.len()];
        for (i, state) in parser.states.iter().enumerate() {
            for to in targets(&state.transition).filter(|&to| to <= i) {
                revisited[to] = true;
            }
        }
        for (i, state) in parser.states.iter().enumerate() {
            self.loc = state.loc;
            self.place(states.labels[i]);
            self.code.states.push((states.labels[i], id.0, i as u32));
            if revisited[i] {
                self.emit(Op::Step { to: timeout });
            }
            self.stmts(&state.body);
            self.loc = state.loc;
            let temps = self.next_temp;
            match &state.transition {
                Transition::Goto(StateTarget::State(next)) if *next as usize == i + 1 => {}
                Transition::Goto(to) => {
                    let to = states.label(*to);
                    self.emit(Op::Jmp { to });
                }
                Transition::Select { keys, cases } => self.select(keys, cases, &states),
            }
            self.next_temp = temps;
        }
        self.loc = parser.loc;
        self.place(accept);
        self.emit(Op::Halt);
        self.place(reject);
        self.emit(Op::Refuse);
        self.place(timeout);
        self.reject_with("ParserTimeout");
    }

    fn reject_with(&mut self, error: &str) {
        let a = self.error_value(error);
        let a = self.number(a);
        self.emit(Op::Reject { a });
    }

    /// The value of one of core.p4's errors.
    pub(super) fn error_value(&self, error: &str) -> u64 {
        let declared = self.program.errors.iter().position(|name| name == error);
        let core = || CORE_ERRORS.iter().position(|&name| name == error);
        declared.or_else(core).unwrap_or(0) as u64
    }

    fn select(&mut self, keys: &[Expr], cases: &[SelectCase], states: &States) {
        // A condition is evaluated where a case tests it. Other keys are computed once, and then read as the variable
        // at their slot.
        let in_sets = cases.iter().any(|case| !case.value_sets.is_empty());
        let keys: Vec<_> = keys
            .iter()
            .map(|key| match key.kind {
                ExprKind::Unary(..) | ExprKind::Binary(..)
                    if key.ty == Scalar::Bool && !in_sets =>
                {
                    key.clone()
                }
                _ => {
                    let slot = self.value(key);
                    Expr::load(self.place_at(slot, key.ty))
                }
            })
            .collect();
        let targets: Vec<_> = cases.iter().map(|case| states.label(case.to)).collect();
        // Leading cases that are plain constants become a jump table.
        let constant = |case: &SelectCase| match &case.sets[..] {
            [KeyMatch::Value(value)] if case.value_sets.is_empty() => expr::small_constant(value),
            _ => None,
        };
        let plain: Vec<_> = cases
            .iter()
            .zip(&targets)
            .map_while(|(case, &to)| Some((constant(case)?, to)))
            .collect();
        let mut rest = 0;
        if plain.len() >= 4 {
            rest = plain.len();
            let default = self.label();
            let key = self.value(&keys[0]);
            self.jump(key, &plain, default);
            self.place(default);
        }
        for (case, &to) in cases.iter().zip(&targets).skip(rest) {
            let temps = self.next_temp;
            self.loc = case.loc;
            if self.select_case(case, &keys, to) {
                return;
            }
            self.next_temp = temps;
        }
        self.reject_with("NoMatch");
    }

    /// Jumps to `to` if the case matches. Returns whether it always matches.
    fn select_case(&mut self, case: &SelectCase, keys: &[Expr], to: Target) -> bool {
        let all = case.sets.iter().all(|set| matches!(set, KeyMatch::Any));
        match &case.value_sets[..] {
            [] if all => {
                self.emit(Op::Jmp { to });
                return true;
            }
            [only] if all => {
                self.in_set(only, keys, to);
                return false;
            }
            _ => {}
        }
        let no = self.label();
        for of in &case.value_sets {
            let yes = self.label();
            self.in_set(of, keys, yes);
            self.emit(Op::Jmp { to: no });
            self.place(yes);
        }
        for (set, key) in case.sets.iter().zip(keys) {
            self.test(set, key, no);
        }
        self.emit(Op::Jmp { to });
        self.place(no);
        false
    }

    /// Jumps to `to` if the value set contains its keys.
    fn in_set(&mut self, of: &InValueSet, keys: &[Expr], to: Target) {
        let keys = keys[of.keys.clone()].iter().map(|key| self.value(key));
        let keys = keys.collect();
        self.code.set_tests.push(SetTest {
            set: of.set.0,
            keys,
        });
        let test = self.code.set_tests.len() as u32 - 1;
        self.emit(Op::InSet { test, to });
    }

    /// Jumps to `no` unless the key is in the set.
    fn test(&mut self, set: &KeyMatch, key: &Expr, no: Target) {
        use p4_ir::BinaryOp;
        let (key, ty) = (key.clone(), key.ty);
        let binary = |op, a: Expr, b: Expr, ty| Expr {
            kind: ExprKind::Binary(op, Box::new(a), Box::new(b)),
            ty,
        };
        let hold = |c: &mut Self, op, a: Expr, b: &Expr| {
            let condition = binary(op, a, b.clone(), Scalar::Bool);
            c.branch(&condition, no, false);
        };
        match set {
            KeyMatch::Any => {}
            KeyMatch::Value(value) => hold(self, BinaryOp::Eq, key, value),
            KeyMatch::Mask(value, mask) => {
                let masked = binary(BinaryOp::BitAnd, key, mask.clone(), ty);
                let value = binary(BinaryOp::BitAnd, value.clone(), mask.clone(), ty);
                let value = fold_and(value);
                hold(self, BinaryOp::Eq, masked, &value);
            }
            KeyMatch::Range(low, high) => {
                hold(self, BinaryOp::Ge, key.clone(), low);
                hold(self, BinaryOp::Le, key, high);
            }
        }
    }

    pub(super) fn parser_stmt(&mut self, stmt: &StmtKind) {
        match stmt {
            StmtKind::Extract {
                header,
                ty,
                varbit_bits,
            } => {
                let bits = varbit_bits.as_ref().map(|bits| self.one_word(bits));
                let (base, off) = self.locate(header);
                let header = self.header(*ty);
                self.emit(match bits {
                    Some(bits) => Op::ExtractVar {
                        base,
                        off,
                        bits,
                        header: header as u16,
                    },
                    None => Op::Extract { base, off, header },
                });
            }
            StmtKind::Lookahead(places) => {
                let bits = places.iter().map(|place| place.ty.width()).sum();
                self.emit(Op::Need { bits });
                let mut at = 0;
                for place in places.iter().filter(|place| place.ty.width() > 0) {
                    let w = place.ty.width();
                    self.check_width(place.ty);
                    let target = self.target(place);
                    self.emit(Op::Peek {
                        d: target.slot,
                        at,
                        w: w as u16,
                    });
                    self.store(target);
                    at += w;
                }
            }
            StmtKind::Advance(bits) => {
                let a = self.one_word(bits);
                self.emit(Op::Advance { a });
            }
            StmtKind::Verify(condition, error) => {
                let holds = self.label();
                self.branch(condition, holds, true);
                let a = self.value(error);
                self.emit(Op::Reject { a });
                self.place(holds);
            }
            _ => unreachable!("only called for parser statements"),
        }
    }
}

/// `value & mask` where both are constants.
fn fold_and(e: Expr) -> Expr {
    if let ExprKind::Binary(_, a, b) = &e.kind
        && let (ExprKind::Const(value), ExprKind::Const(mask)) = (&a.kind, &b.kind)
    {
        return Expr::constant(value & mask, e.ty);
    }
    e
}

/// The states that a transition may lead to.
fn targets(transition: &Transition) -> impl Iterator<Item = usize> {
    let (one, cases) = match transition {
        Transition::Goto(to) => (Some(*to), &[][..]),
        Transition::Select { cases, .. } => (None, &cases[..]),
    };
    let all = one.into_iter().chain(cases.iter().map(|case| case.to));
    all.filter_map(|to| match to {
        StateTarget::State(state) => Some(state as usize),
        StateTarget::Accept | StateTarget::Reject => None,
    })
}
