//! The code that a block runs.

use crate::walk;
use p4_ir::{ActionId, Block, BlockBody, ExternCall, FunctionId, Program, StmtKind, TableId};
use std::collections::BTreeSet;

/// A control of match-action units: ingress, egress or the ghost thread of a pipeline.
pub struct Gress<'p> {
    /// The pipeline: `pipe0`.
    pub pipe: &'p str,
    /// `ingress`, `egress` or `ghost`.
    pub name: &'p str,
    pub block: &'p Block,
    pub body: FunctionId,
}

/// A function, and how it is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Body {
    pub function: FunctionId,
    /// The action that it is the body of, or is called from.
    pub action: Option<ActionId>,
}

/// The controls of all pipelines, without the deparsers.
pub fn gresses(program: &Program) -> Vec<Gress<'_>> {
    program.blocks.iter().filter_map(gress_of).collect()
}

fn gress_of(block: &Block) -> Option<Gress<'_>> {
    let BlockBody::Control(body) = block.body else {
        return None;
    };
    let (pipe, name) = block.role.split_once('.')?;
    let gress = Gress {
        pipe,
        name,
        block,
        body,
    };
    (!name.contains("deparser")).then_some(gress)
}

impl Gress<'_> {
    /// The functions that it runs, those of actions included.
    pub fn bodies(&self, program: &Program) -> BTreeSet<Body> {
        let mut found = BTreeSet::new();
        let start = Body {
            function: self.body,
            action: None,
        };
        reach(program, start, &mut found);
        found
    }

    /// The tables that it applies.
    pub fn tables(&self, program: &Program) -> BTreeSet<TableId> {
        let mut tables = BTreeSet::new();
        for body in self.bodies(program) {
            walk::statements(&program[body.function].body, &mut |statement| {
                if let StmtKind::Apply { table, .. } = statement.kind {
                    tables.insert(table);
                }
            });
        }
        tables
    }

    /// Its calls of externs.
    pub fn calls<'p>(&self, program: &'p Program) -> Vec<&'p ExternCall> {
        let mut calls = Vec::new();
        for body in self.bodies(program) {
            walk::statements(&program[body.function].body, &mut |statement| {
                if let StmtKind::Extern(call) = &statement.kind {
                    calls.push(call);
                }
            });
        }
        calls
    }
}

fn reach(program: &Program, body: Body, found: &mut BTreeSet<Body>) {
    if !found.insert(body) {
        return;
    }
    let mut next = Vec::new();
    walk::statements(
        &program[body.function].body,
        &mut |statement| match statement.kind {
            StmtKind::Call(function) => next.push(Body { function, ..body }),
            StmtKind::CallAction(action, function) => next.push(Body {
                function,
                action: Some(action),
            }),
            StmtKind::Apply { table, .. } => {
                next.extend(program[table].actions.iter().map(|action| Body {
                    function: action.body,
                    action: Some(action.action),
                }));
            }
            _ => {}
        },
    );
    for body in next {
        reach(program, body, found);
    }
}
