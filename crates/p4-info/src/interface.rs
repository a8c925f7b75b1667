//! What a control plane sees of a program, in the order in which P4Info lists it.

use crate::types::type_name;
use num_bigint::BigUint;
use p4_ir::{
    ActionId, BlockBody, Declared, ExprKind, ExternCall, ExternId, FunctionId, Program, Stmt,
    StmtKind, TableId, Type, ValueSetId,
};
use std::collections::{BTreeMap, BTreeSet};

/// What is visible.
#[derive(Debug)]
pub(crate) struct Interface {
    /// Blocks, in the order of the package's constructor.
    pub blocks: Vec<Visible>,
    /// Tables, extern objects and value sets: those of the top level, then block by block.
    pub objects: Vec<Declared>,
}

/// What a block makes visible by what it runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Visible {
    /// Actions that its tables list or that its `apply` calls; those of the top level first. An action that only
    /// other actions call is part of those.
    pub actions: Vec<ActionId>,
    /// Tables that it applies, on a path that can be taken.
    pub tables: BTreeSet<TableId>,
    /// Names and types of the `digest` calls in its actions, then in its `apply`.
    pub digests: Vec<(String, Type)>,
    /// Whether any function of the architecture is called there.
    pub calls_architecture: bool,
}

impl Interface {
    pub fn new(program: &Program) -> Self {
        let local: BTreeSet<ActionId> = program
            .blocks
            .iter()
            .flat_map(|b| &b.declared)
            .filter_map(|d| match d {
                Declared::Action(id) => Some(*id),
                _ => None,
            })
            .collect();
        let blocks = program.blocks.iter();
        let mut blocks: Vec<Visible> = blocks.map(|b| visible(program, b, &local)).collect();
        let unnamed = blocks.iter_mut().flat_map(|b| &mut b.digests);
        let unnamed = unnamed.filter(|(name, _)| name.is_empty());
        for (number, (name, _)) in unnamed.enumerate() {
            *name = format!("digest_{number}");
        }
        let is_object = |declared: &&Declared| match declared {
            Declared::Action(_) => false,
            Declared::Table(id) => blocks.iter().any(|b| b.tables.contains(id)),
            Declared::Extern(_) | Declared::ValueSet(_) => true,
        };
        let of_blocks = program.blocks.iter().flat_map(|b| &b.declared);
        let objects = program.declared.iter().chain(of_blocks);
        Interface {
            objects: objects.filter(is_object).copied().collect(),
            blocks,
        }
    }

    pub fn tables(&self) -> impl Iterator<Item = TableId> {
        self.objects.iter().filter_map(|d| match d {
            Declared::Table(id) => Some(*id),
            _ => None,
        })
    }

    pub fn externs(&self) -> impl Iterator<Item = ExternId> {
        self.objects.iter().filter_map(|d| match d {
            Declared::Extern(id) => Some(*id),
            _ => None,
        })
    }

    pub fn value_sets(&self) -> impl Iterator<Item = ValueSetId> {
        self.objects.iter().filter_map(|d| match d {
            Declared::ValueSet(id) => Some(*id),
            _ => None,
        })
    }
}

fn visible(program: &Program, block: &p4_ir::Block, local: &BTreeSet<ActionId>) -> Visible {
    let BlockBody::Control(body) = block.body else {
        return Visible::default();
    };
    let mut called = Walk::new(program, false);
    called.function(body);

    let mut used = Vec::new();
    let mut bodies: BTreeMap<ActionId, FunctionId> = BTreeMap::new();
    let tables = block.declared.iter().filter_map(|d| match d {
        Declared::Table(id) if called.tables.contains(id) => Some(&program[*id]),
        _ => None,
    });
    for listed in tables.flat_map(|t| &t.actions) {
        used.push(listed.action);
        bodies.entry(listed.action).or_insert(listed.body);
    }
    for (action, body) in &called.actions {
        used.push(*action);
        bodies.entry(*action).or_insert(*body);
    }

    let mut actions = Vec::new();
    for action in used.iter().filter(|a| !local.contains(a)) {
        if !actions.contains(action) {
            actions.push(*action);
        }
    }
    for declared in &block.declared {
        match declared {
            Declared::Action(id) if used.contains(id) => actions.push(*id),
            _ => {}
        }
    }

    let mut within = Walk::new(program, true);
    for action in &actions {
        within.function(bodies[action]);
    }
    let calls = || within.externs.iter().chain(&called.externs);
    let digest = |call: &&&ExternCall| call.name == "digest";
    Visible {
        digests: calls()
            .filter(digest)
            .filter_map(|call| call.type_args.first())
            .map(|ty| (declared_name(program, ty), ty.clone()))
            .collect(),
        calls_architecture: calls().any(|call| call.object.is_none()),
        actions,
        tables: called.tables,
    }
}

/// A digest is called after the type of its data; those of a type without name are numbered.
fn declared_name(program: &Program, ty: &Type) -> String {
    match ty {
        Type::Named(id) => type_name(&program[*id]),
        _ => String::new(),
    }
}

/// Goes through bodies in the order of the source.
struct Walk<'p> {
    program: &'p Program,
    /// Whether actions that are called directly are gone into.
    into_actions: bool,
    seen: BTreeSet<FunctionId>,
    actions: Vec<(ActionId, FunctionId)>,
    tables: BTreeSet<TableId>,
    externs: Vec<&'p ExternCall>,
}

impl<'p> Walk<'p> {
    fn new(program: &'p Program, into_actions: bool) -> Self {
        Walk {
            program,
            into_actions,
            seen: BTreeSet::new(),
            actions: Vec::new(),
            tables: BTreeSet::new(),
            externs: Vec::new(),
        }
    }

    fn function(&mut self, id: FunctionId) {
        if self.seen.insert(id) {
            self.body(&self.program[id].body);
        }
    }

    fn body(&mut self, body: &'p [Stmt]) {
        for stmt in body {
            match &stmt.kind {
                StmtKind::If {
                    condition,
                    then,
                    otherwise,
                } => {
                    let known = match &condition.kind {
                        ExprKind::Const(value) => Some(*value != BigUint::ZERO),
                        _ => None,
                    };
                    if known != Some(false) {
                        self.body(then);
                    }
                    if known != Some(true) {
                        self.body(otherwise);
                    }
                }
                StmtKind::Switch { cases, default, .. } => {
                    cases.iter().for_each(|(_, body)| self.body(body));
                    self.body(default);
                }
                StmtKind::Loop {
                    prepare,
                    body,
                    update,
                    ..
                } => {
                    self.body(prepare);
                    self.body(body);
                    self.body(update);
                }
                StmtKind::Call(function) => self.function(*function),
                StmtKind::CallAction(_, body) if self.into_actions => self.function(*body),
                StmtKind::CallAction(action, body) => self.actions.push((*action, *body)),
                StmtKind::Apply { table, .. } => {
                    self.tables.insert(*table);
                }
                StmtKind::Extern(call) => self.externs.push(call),
                _ => {}
            }
        }
    }
}
