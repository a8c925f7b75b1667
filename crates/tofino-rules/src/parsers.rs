//! What parsers compute: nothing but counters and constants. Fields of variable length, also in deparsers.

use crate::Report;
use crate::walk;
use p4_ir::{
    Arg, BinaryOp, BlockBody, Expr, ExprKind, ParserState, Place, Program, Scalar, SourceLoc, Step,
    Stmt, StmtKind, Transition, VariableId,
};

pub fn check(program: &Program, report: &mut Report) {
    for block in &program.blocks {
        match block.body {
            BlockBody::Parser(parser) => {
                let params = block.params.iter();
                let fields: Vec<VariableId> = params.map(|param| param.variable).collect();
                for state in &program[parser].states {
                    check_state(state, &fields, report);
                }
            }
            BlockBody::Control(function) => {
                walk::statements(&program[function].body, &mut |s| checksum(s, report));
            }
        }
    }
}

fn check_state(state: &ParserState, fields: &[VariableId], report: &mut Report) {
    let mut variable_lengths = 0;
    walk::statements(&state.body, &mut |statement| {
        let loc = statement.loc;
        match &statement.kind {
            StmtKind::Assign { to, value } | StmtKind::AssignSlice { to, value, .. } => {
                assignment(loc, to, value, fields, report);
            }
            StmtKind::Advance(bits) if !walk::is_constant(bits) => report.add(
                loc,
                "parser-advance",
                "an advance by a variable; Tofino's parser advances by constants".to_owned(),
                "extract a header with a `varbit` field of that length, or `select` a state for each length",
            ),
            StmtKind::Extract {
                varbit_bits: Some(bits),
                ..
            } => {
                variable_lengths += 1;
                length(loc, bits, variable_lengths, report);
            }
            _ => checksum(statement, report),
        }
    });
    if let Transition::Select { keys, .. } = &state.transition
        && keys.iter().any(computes)
    {
        arithmetic(state.loc, report);
    }
}

fn assignment(
    loc: SourceLoc,
    to: &Place,
    value: &Expr,
    fields: &[VariableId],
    report: &mut Report,
) {
    // `next` of a header stack is the extractor's own count.
    if to.at.path.last() == Some(&Step::NextIndex) {
        return;
    }
    // A local variable can represent the value that it was assigned: in the length of a `varbit`, say. One that it is computed
    // from itself does not.
    let own = |place: &&Place| place.at == to.at;
    let kept = fields.contains(&to.at.variable) || walk::loads(value).iter().any(own);
    if kept && computes(value) {
        arithmetic(loc, report);
    }
}

fn arithmetic(loc: SourceLoc, report: &mut Report) {
    report.add(
        loc,
        "parser-arithmetic",
        "arithmetic in a parser; Tofino's parser copies fields and constants".to_owned(),
        "count with a `ParserCounter`, `select` on the field and assign constants, or compute in the control",
    );
}

/// Whether an expression adds, subtracts, multiplies, divides, or shifts by a variable.
fn computes(expr: &Expr) -> bool {
    let mut computes = false;
    walk::parts(expr, &mut |part| {
        if let ExprKind::Binary(op, _, right) = &part.kind {
            computes |= match op {
                BinaryOp::Add
                | BinaryOp::Sub
                | BinaryOp::Mul
                | BinaryOp::Div
                | BinaryOp::Mod
                | BinaryOp::SatAdd
                | BinaryOp::SatSub => !walk::is_constant(part),
                BinaryOp::Shl | BinaryOp::Shr => !walk::is_constant(right),
                _ => false,
            };
        }
    });
    computes
}

/// The length of a `varbit`: the compiler enumerates the values of one variable.
fn length(loc: SourceLoc, bits: &Expr, in_state: u32, report: &mut Report) {
    let mut variables: Vec<&Place> = Vec::new();
    for place in walk::loads(bits) {
        if !variables.contains(&place) {
            variables.push(place);
        }
    }
    if variables.len() > 1 {
        report.add(
            loc,
            "varbit-length",
            "the length of a `varbit` depends on several variables; on Tofino it may depend on one"
                .to_owned(),
            "`select` on one of them, and extract in a state for each of its values",
        );
    }
    if in_state > 1 {
        report.add(
            loc,
            "varbit-state",
            "a state extracts several `varbit` fields; on Tofino a state extracts one".to_owned(),
            "extract each in a separate state",
        );
    }
}

/// Several `varbit`s in one checksum.
fn checksum(statement: &Stmt, report: &mut Report) {
    let StmtKind::Extern(call) = &statement.kind else {
        return;
    };
    if !call.name.starts_with("Checksum.") {
        return;
    }
    for arg in &call.args {
        let Arg::List(items) = arg else { continue };
        let variable = |ty: Scalar| matches!(ty, Scalar::Varbit(_));
        if items.iter().filter(|item| variable(item.value.ty)).count() > 1 {
            report.add(
                statement.loc,
                "varbit-checksum",
                "a checksum over several `varbit` fields; on Tofino it covers at most one"
                    .to_owned(),
                "compute the checksum over fixed layouts, or update it by what changed",
            );
        }
    }
}
