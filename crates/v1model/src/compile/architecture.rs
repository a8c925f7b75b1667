//! The package: its six blocks, the standard metadata, tables, field lists.

use super::{Compiler, walk};
use crate::CompileError;
use crate::code::*;
use p4_ir::{
    AnnotationValue, Block, BlockBody, FunctionId, Program, Stmt, StmtKind, Type, TypeKind,
};

/// How often each function is called; 2 stands for more, and for actions of tables. Refuses recursion,
/// which P4 does not have.
pub(super) fn check_calls(program: &Program) -> Result<Vec<u32>, Vec<CompileError>> {
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

const SHAPE: &str =
    "V1Switch(parser, verify checksum, ingress, egress, compute checksum, deparser)";

impl Compiler<'_> {
    /// Translates everything that can be reached from the package.
    pub(super) fn architecture(&mut self) {
        let program = self.program;
        let [parser, verify, ingress, egress, compute, deparser] = &program.blocks[..] else {
            return self.error(format!(
                "package `{}` has {} blocks; this target runs {SHAPE}",
                program.package,
                program.blocks.len()
            ));
        };
        if program.package != "V1Switch" {
            return self.error(format!(
                "package `{}` is not supported; this target runs {SHAPE}",
                program.package
            ));
        }
        self.code.errors = ErrorCodes {
            packet_too_short: self.error_value("PacketTooShort"),
            header_too_short: self.error_value("HeaderTooShort"),
            invalid_argument: self.error_value("ParserInvalidArgument"),
        };
        self.standard_metadata(ingress);
        if let Some(headers) = ingress.params.first() {
            let base = headers.base as usize;
            self.code.header_words = base..base + headers.ty.words(program) as usize;
        }
        if let Some(meta) = ingress.params.get(1) {
            self.field_lists(&meta.ty, meta.base, &[]);
        }
        for table in &program.tables {
            self.loc = table.loc;
            let actions = table
                .actions
                .iter()
                .map(|listed| self.action(listed))
                .collect();
            self.code.tables.push(TableCode { actions });
        }
        self.code.blocks = Blocks {
            parser: self.block(parser, true),
            verify: self.block(verify, false),
            ingress: self.block(ingress, false),
            egress: self.block(egress, false),
            compute: self.block(compute, false),
            deparser: self.block(deparser, false),
        };
    }

    fn block(&mut self, block: &Block, is_parser: bool) -> Target {
        self.loc = block.loc;
        let start = self.here();
        match block.body {
            BlockBody::Parser(parser) if is_parser => self.parser(parser),
            BlockBody::Control(function) if !is_parser => {
                self.call(function);
                self.loc = block.loc;
                self.emit(Op::Halt);
            }
            _ => self.error(format!(
                "`{}` cannot fill `{}`; this target runs {SHAPE}",
                block.type_name, block.role
            )),
        }
        start
    }

    fn action(&mut self, listed: &p4_ir::TableAction) -> ActionCode {
        let mut data = Vec::new();
        for param in &self.program[listed.action].params {
            let words = param.ty.words(self.program);
            data.extend(param.base..param.base + words);
        }
        ActionCode {
            id: listed.action,
            data,
            moves: Vec::new(),
            done: false,
            entry: self.subroutine(listed.body),
        }
    }

    fn standard_metadata(&mut self, ingress: &Block) {
        let program = self.program;
        let named = |ty: &Type| match ty {
            Type::Named(id) => program[*id].name == "standard_metadata_t",
            _ => false,
        };
        let param = ingress.params.iter().find(|param| named(&param.ty));
        let Some(param) = param.or(ingress.params.get(2)) else {
            self.loc = ingress.loc;
            return self.error(format!(
                "`{}` has no standard_metadata_t parameter, which ingress of V1Switch must have",
                ingress.type_name
            ));
        };
        let members = param.ty.members(program);
        let field = |name: &str| {
            let found = members.iter().find(|(_, field)| field.name == name);
            let Some((offset, field)) = found else {
                return MetaField {
                    slot: NONE,
                    mask: 0,
                };
            };
            let width = field.ty.scalar(program).map_or(64, |scalar| scalar.width());
            MetaField {
                slot: param.base + offset,
                mask: u64::MAX >> (64 - width.clamp(1, 64)),
            }
        };
        self.code.metadata = StandardMetadata {
            ingress_port: field("ingress_port"),
            egress_spec: field("egress_spec"),
            egress_port: field("egress_port"),
            instance_type: field("instance_type"),
            packet_length: field("packet_length"),
            enq_timestamp: field("enq_timestamp"),
            enq_qdepth: field("enq_qdepth"),
            deq_timedelta: field("deq_timedelta"),
            deq_qdepth: field("deq_qdepth"),
            ingress_global_timestamp: field("ingress_global_timestamp"),
            egress_global_timestamp: field("egress_global_timestamp"),
            mcast_grp: field("mcast_grp"),
            egress_rid: field("egress_rid"),
            checksum_error: field("checksum_error"),
            parser_error: field("parser_error"),
            priority: field("priority"),
        };
    }

    /// Collects the fields that `@field_list(…)` marks; a mark on a struct or array holds for all in it.
    fn field_lists(&mut self, ty: &Type, base: Slot, outer: &[u64]) {
        let program = self.program;
        if let Type::Array(element, len) = ty {
            let stride = element.words(program);
            for i in 0..*len {
                self.field_lists(element, base + i * stride, outer);
            }
            return;
        }
        for (offset, field) in ty.members(program) {
            let mut lists = outer.to_vec();
            for annotation in field.annotations.iter().filter(|a| a.name == "field_list") {
                lists.extend(annotation.values.iter().filter_map(|value| match value {
                    AnnotationValue::Int(index) => u64::try_from(index).ok(),
                    _ => None,
                }));
            }
            if holds_fields(&field.ty, program) {
                self.field_lists(&field.ty, base + offset, &lists);
                continue;
            }
            let words = field.ty.words(program);
            let kept = lists.into_iter().map(|list| (list, base + offset, words));
            self.code.field_lists.extend(kept);
        }
    }
}

/// Whether it is a struct, or an array of such, whose fields may have marks of their own.
fn holds_fields(ty: &Type, program: &Program) -> bool {
    match ty {
        Type::Array(element, _) => holds_fields(element, program),
        Type::Named(id) => matches!(program[*id].kind, TypeKind::Struct(_)),
        _ => false,
    }
}
