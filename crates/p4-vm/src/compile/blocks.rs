//! The parts of a program that every architecture has: blocks, actions, errors.

use super::{Compiler, walk};
use crate::code::*;
use crate::{Architecture, CompileError};
use p4_ir::{
    Block, BlockBody, BlockParam, Field, FunctionId, Program, Stmt, StmtKind, Type, VariableId,
};
use std::ops::Range;

/// How often each function is called. 2 means more than once, and is also used for actions of tables and for abstract
/// methods. Rejects recursion, which P4 does not allow.
pub fn check_calls(program: &Program) -> Result<Vec<u32>, Vec<CompileError>> {
    let mut calls = vec![0; program.functions.len()];
    let mut count = |stmts: &[Stmt]| {
        walk(stmts, &mut |stmt| match stmt.kind {
            StmtKind::Call(f) | StmtKind::CallAction(_, f) => calls[f.0 as usize] += 1,
            _ => {}
        });
    };
    program.functions.iter().for_each(|f| count(&f.body));
    for state in program.parsers.iter().flat_map(|parser| &parser.states) {
        count(&state.body);
    }
    for action in program.tables.iter().flat_map(|table| &table.actions) {
        calls[action.body.0 as usize] += 2;
    }
    for method in &program.methods {
        calls[method.body.0 as usize] += 2;
    }
    let mut visits = vec![Visit::New; program.functions.len()];
    for f in 0..program.functions.len() {
        if let Some(f) = find_cycle(program, f, &mut visits) {
            let function = &program.functions[f];
            return Err(vec![CompileError {
                loc: function.loc,
                message: format!("`{}` calls itself; P4 has no recursion", function.name),
            }]);
        }
    }
    Ok(calls)
}

#[derive(Clone, Copy, PartialEq)]
enum Visit {
    New,
    Open,
    Done,
}

fn find_cycle(program: &Program, f: usize, visits: &mut [Visit]) -> Option<usize> {
    match visits[f] {
        Visit::Done => return None,
        Visit::Open => return Some(f),
        Visit::New => visits[f] = Visit::Open,
    }
    let mut called: Vec<FunctionId> = Vec::new();
    walk(&program.functions[f].body, &mut |stmt| match stmt.kind {
        StmtKind::Call(f) | StmtKind::CallAction(_, f) => called.push(f),
        StmtKind::Apply { table, .. } => {
            called.extend(program[table].actions.iter().map(|a| a.body));
        }
        _ => {}
    });
    let cycle = called
        .iter()
        .find_map(|f| find_cycle(program, f.0 as usize, visits));
    visits[f] = Visit::Done;
    cycle
}

impl<'p, A: Architecture> Compiler<'p, A> {
    /// Translates what the engine itself refers to: values of errors, and actions of tables.
    pub(super) fn program_parts(&mut self) {
        self.code.errors = ErrorCodes {
            packet_too_short: self.error_value("PacketTooShort"),
            header_too_short: self.error_value("HeaderTooShort"),
            invalid_argument: self.error_value("ParserInvalidArgument"),
        };
        for table in &self.program.tables {
            self.loc = table.loc;
            let actions = table
                .actions
                .iter()
                .map(|listed| self.action(listed))
                .collect();
            let no_action = table
                .actions
                .iter()
                .position(|listed| self.program[listed.action].name == "NoAction");
            let empty_group = no_action.unwrap_or(table.actions.len()) as u64;
            self.code.tables.push(TableCode {
                actions,
                empty_group: table.implementation.map(|_| empty_group),
            });
        }
    }

    /// Translates the parser that is bound to a block. Returns its entry point, for the layout.
    ///
    /// `shape` is the package of the architecture, for the error message if the block is bound to a control.
    pub fn parser_block(&mut self, block: &Block, shape: &str) -> Target {
        let BlockBody::Parser(parser) = block.body else {
            return self.misplaced(block, shape);
        };
        self.loc = block.loc;
        let start = self.here();
        self.parser(parser);
        start
    }

    /// Translates the control that is bound to a block, like [`parser_block`](Self::parser_block) for a parser.
    pub fn control_block(&mut self, block: &Block, shape: &str) -> Target {
        let BlockBody::Control(function) = block.body else {
            return self.misplaced(block, shape);
        };
        self.loc = block.loc;
        let start = self.here();
        self.call(function);
        self.loc = block.loc;
        self.emit(Op::Halt);
        start
    }

    fn misplaced(&mut self, block: &Block, shape: &str) -> Target {
        self.loc = block.loc;
        self.error(format!(
            "`{}` cannot fill `{}`; this architecture runs {shape}",
            block.type_name, block.role
        ));
        0
    }

    /// The first word of a variable.
    pub fn slot(&self, variable: VariableId) -> Slot {
        self.storage.slot(variable)
    }

    /// The words of a parameter of a block.
    pub fn words(&self, param: &BlockParam) -> Range<usize> {
        let first = self.slot(param.variable) as usize;
        first..first + self.words_of(&param.ty) as usize
    }

    /// How many words a variable of this type takes.
    pub fn words_of(&self, ty: &Type) -> u32 {
        self.storage.words(ty)
    }

    /// The members of a struct, header or union, each with its offset in words.
    pub fn members(&self, ty: &Type) -> Vec<(u32, &'p Field)> {
        self.storage.members(ty).collect()
    }

    /// A field of a parameter that is a struct. Returns `MetaField::default()` if there is no field of this name.
    pub fn metadata_field(&self, param: &BlockParam, name: &str) -> MetaField {
        let mut members = self.storage.members(&param.ty);
        let Some((offset, field)) = members.find(|(_, field)| field.name == name) else {
            return MetaField::default();
        };
        let width = field
            .ty
            .scalar(self.program)
            .map_or(64, |scalar| scalar.width());
        MetaField {
            slot: self.slot(param.variable) + offset,
            mask: u64::MAX >> (64 - width.clamp(1, 64)),
        }
    }

    fn action(&mut self, listed: &p4_ir::TableAction) -> ActionCode {
        let mut data = Vec::new();
        for param in &self.program[listed.action].params {
            let first = self.slot(param.variable);
            data.extend(first..first + self.words_of(&param.ty));
        }
        ActionCode {
            id: listed.action,
            data,
            moves: Vec::new(),
            done: false,
            entry: self.subroutine(listed.body),
        }
    }
}
