//! Graphs of statements as structured code.

use p4_ir::{BinaryOp, Expr, ExprKind, Place, Scalar, SourceLoc, Stmt, StmtKind};
use std::collections::HashMap;

/// Statements, and what comes after them.
#[derive(Clone, Debug)]
pub struct Step {
    pub body: Vec<Stmt>,
    pub next: Next,
    pub loc: SourceLoc,
}

/// Index of a step; `None`: the end.
pub type Target = Option<usize>;

/// Where a step leads.
#[derive(Clone, Debug)]
pub enum Next {
    Always(Target),
    /// On a `bool`: where it holds, where not.
    If(Expr, Target, Target),
    /// On a value: constants and their targets, and where all others lead.
    Cases(Expr, Vec<(Expr, Target)>, Target),
}

impl Next {
    fn targets(&self) -> Vec<usize> {
        match self {
            Next::Always(to) => to.iter().copied().collect(),
            Next::If(_, yes, no) => yes.iter().chain(no).copied().collect(),
            Next::Cases(_, cases, otherwise) => {
                let cases = cases.iter().filter_map(|(_, to)| *to);
                cases.chain(*otherwise).collect()
            }
        }
    }
}

/// The type of the variable that holds where execution continues.
pub const POSITION: Scalar = Scalar::Bit(32);

/// Conditions within conditions, before the rest becomes a separate case.
const MAX_DEPTH: u32 = 32;

/// The value of the position that ends the loop.
const END: u32 = u32::MAX;

/// The graph that begins at `start` as statements.
///
/// A step that only one other leads to is written where that one ends. The others, which several lead
/// to, or which begin a circle, become cases of a `switch` in a loop, chosen by `position`; without such
/// steps there is no loop.
pub fn structured(steps: &[Step], start: Target, position: &Place) -> Vec<Stmt> {
    let Some(start) = start else {
        return Vec::new();
    };
    let mut writer = Writer {
        steps,
        entries: entries(steps, start),
        position,
        cases: HashMap::new(),
        heads: Vec::new(),
    };
    writer.case(start);
    let mut bodies = Vec::new();
    while bodies.len() < writer.heads.len() {
        let head = writer.heads[bodies.len()];
        bodies.push(writer.write(head, 0));
    }
    if bodies.len() == 1 && writer.entries[start] == 1 {
        return bodies.remove(0);
    }
    let number_of = |i: usize| Expr::constant(i as u32, POSITION);
    let cases = bodies.into_iter().enumerate().map(|(i, mut body)| {
        body.insert(0, go(position, END));
        (vec![number_of(i)], body)
    });
    let choose = plain(StmtKind::Switch {
        on: Expr::load(position.clone()),
        cases: cases.collect(),
        default: vec![go(position, END)],
    });
    let going_on = Expr {
        kind: ExprKind::Binary(
            BinaryOp::Ne,
            Box::new(Expr::load(position.clone())),
            Box::new(Expr::constant(END, POSITION)),
        ),
        ty: Scalar::Bool,
    };
    let round = plain(StmtKind::Loop {
        prepare: Vec::new(),
        condition: going_on,
        body: vec![choose],
        update: Vec::new(),
    });
    vec![go(position, 0), round]
}

/// How many ways lead to each step that can be reached; 1 for the start itself.
fn entries(steps: &[Step], start: usize) -> Vec<u32> {
    let mut entries = vec![0; steps.len()];
    let mut seen = vec![false; steps.len()];
    let mut waiting = vec![start];
    entries[start] = 1;
    while let Some(at) = waiting.pop() {
        if std::mem::replace(&mut seen[at], true) {
            continue;
        }
        for to in steps[at].next.targets() {
            entries[to] += 1;
            waiting.push(to);
        }
    }
    entries
}

struct Writer<'s> {
    steps: &'s [Step],
    entries: Vec<u32>,
    position: &'s Place,
    /// The number of each step that is a case.
    cases: HashMap<usize, u32>,
    /// The steps that are cases, in the order of their numbers.
    heads: Vec<usize>,
}

impl Writer<'_> {
    /// The number of the case that begins with this step.
    fn case(&mut self, step: usize) -> u32 {
        let next = self.heads.len() as u32;
        let number = *self.cases.entry(step).or_insert(next);
        if number == next {
            self.heads.push(step);
        }
        number
    }

    /// The statements from a step on, as far as no other case begins.
    fn write(&mut self, mut at: usize, depth: u32) -> Vec<Stmt> {
        let mut out = Vec::new();
        loop {
            let Step { body, next, loc } = &self.steps[at];
            out.extend(body.iter().cloned());
            let kind = match next {
                Next::Always(None) => return out,
                Next::Always(Some(to)) if self.entries[*to] == 1 => {
                    at = *to;
                    continue;
                }
                Next::Always(Some(to)) => {
                    let case = self.case(*to);
                    out.push(go(self.position, case));
                    return out;
                }
                Next::If(condition, yes, no) => StmtKind::If {
                    condition: condition.clone(),
                    then: self.branch(*yes, depth),
                    otherwise: self.branch(*no, depth),
                },
                Next::Cases(on, cases, otherwise) => StmtKind::Switch {
                    on: on.clone(),
                    cases: cases
                        .iter()
                        .map(|(value, to)| (vec![value.clone()], self.branch(*to, depth)))
                        .collect(),
                    default: self.branch(*otherwise, depth),
                },
            };
            out.push(Stmt { kind, loc: *loc });
            return out;
        }
    }

    fn branch(&mut self, to: Target, depth: u32) -> Vec<Stmt> {
        match to {
            None => Vec::new(),
            Some(to) if self.entries[to] == 1 && depth < MAX_DEPTH => self.write(to, depth + 1),
            Some(to) => vec![go(self.position, self.case(to))],
        }
    }
}

fn go(position: &Place, to: u32) -> Stmt {
    plain(StmtKind::Assign {
        to: position.clone(),
        value: Expr::constant(to, POSITION),
    })
}

fn plain(kind: StmtKind) -> Stmt {
    Stmt {
        kind,
        loc: SourceLoc::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use p4_ir::VariableId;

    fn step(n: u32, next: Next) -> Step {
        let at = Place::variable(VariableId(n), Scalar::Bit(8));
        let value = Expr::constant(1u8, Scalar::Bit(8));
        Step {
            body: vec![plain(StmtKind::Assign { to: at, value })],
            next,
            loc: SourceLoc::default(),
        }
    }

    fn condition() -> Expr {
        Expr::constant(1u8, Scalar::Bool)
    }

    fn loops(steps: &[Step]) -> bool {
        let position = Place::variable(VariableId(99), POSITION);
        let out = structured(steps, Some(0), &position);
        out.iter().any(|s| matches!(s.kind, StmtKind::Loop { .. }))
    }

    #[test]
    fn a_tree_needs_no_loop() {
        let steps = [
            step(0, Next::If(condition(), Some(1), Some(2))),
            step(1, Next::Always(None)),
            step(2, Next::Always(Some(3))),
            step(3, Next::Always(None)),
        ];
        assert!(!loops(&steps));
    }

    #[test]
    fn a_step_that_two_lead_to_and_a_circle_need_one() {
        let joined = [
            step(0, Next::If(condition(), Some(1), Some(2))),
            step(1, Next::Always(Some(2))),
            step(2, Next::Always(None)),
        ];
        assert!(loops(&joined));
        let circle = [step(0, Next::If(condition(), Some(0), None))];
        assert!(loops(&circle));
    }

    #[test]
    fn a_long_chain_of_conditions_is_cut() {
        let mut steps: Vec<_> = (0..100_000)
            .map(|n| step(n, Next::If(condition(), Some(n as usize + 1), None)))
            .collect();
        steps.push(step(100_000, Next::Always(None)));
        assert!(loops(&steps));
    }
}
