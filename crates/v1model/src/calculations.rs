//! Hashes and checksums, by their control-plane names.

use p4_ir::{Arg, Expr, ExprKind, ExternCall, Program, SourceLoc, StmtKind, TypeKind};
use p4_vm::{Calculation, walk};

/// The calculations of a program. Unnamed ones receive the names that p4c gives them, in source order: `calc`,
/// `calc_0`, `calc_1`, ….
pub fn find(program: &Program) -> Vec<Calculation> {
    let mut found: Vec<Calculation> = Vec::new();
    for function in &program.functions {
        walk(&function.body, &mut |stmt| {
            let StmtKind::Extern(call) = &stmt.kind else {
                return;
            };
            let Some((algorithm, given)) = arguments(program, call) else {
                return;
            };
            let known = found
                .iter()
                .any(|known| is_call(known, stmt.loc, algorithm, given));
            if !known {
                found.push(Calculation {
                    name: given.unwrap_or_default().into(),
                    algorithm: algorithm.into(),
                    at: given.is_none().then_some(stmt.loc),
                });
            }
        });
    }
    found.sort_by_key(|known| known.at.map(|at| (at.file, at.line, at.column)));
    let unnamed = found.iter_mut().filter(|known| known.at.is_some());
    for (i, calculation) in unnamed.enumerate() {
        calculation.name = match i {
            0 => "calc".into(),
            _ => format!("calc_{}", i - 1),
        };
    }
    found
}

/// The algorithm of a hash or checksum, and its name if the program gives one.
fn arguments<'p>(program: &'p Program, call: &'p ExternCall) -> Option<(&'p str, Option<&'p str>)> {
    let at = match call.name.as_str() {
        "hash" => 1,
        "update_checksum"
        | "update_checksum_with_payload"
        | "verify_checksum"
        | "verify_checksum_with_payload" => 3,
        _ => return None,
    };
    let last = if at == 1 { 5 } else { 4 };
    let algorithm = algorithm(program, call.args.get(at)?)?;
    Some((algorithm, name(call.args.get(last))))
}

fn name(given: Option<&Arg>) -> Option<&str> {
    match given? {
        Arg::String(name) => Some(name),
        _ => None,
    }
}

fn is_call(known: &Calculation, at: SourceLoc, algorithm: &str, given: Option<&str>) -> bool {
    match given {
        Some(name) => known.name == name,
        None => known.at == Some(at) && known.algorithm == algorithm,
    }
}

/// The name of the algorithm in an argument. `None` if the argument is not a constant.
pub fn algorithm<'p>(program: &'p Program, arg: &Arg) -> Option<&'p str> {
    let Arg::In(Expr {
        kind: ExprKind::Const(index),
        ..
    }) = arg
    else {
        return None;
    };
    let index = usize::try_from(index).ok()?;
    let mut types = program.types.iter();
    match types
        .find(|ty| ty.name == "HashAlgorithm")
        .map(|ty| &ty.kind)
    {
        Some(TypeKind::Enum(members)) => Some(members.get(index)?.as_str()),
        _ => p4_ir::HASH_ALGORITHMS.get(index).copied(),
    }
}

/// The index of the custom CRC of a call, if it uses one.
pub fn custom(
    calculations: &[Calculation],
    at: SourceLoc,
    algorithm: &str,
    given: Option<&Arg>,
) -> Option<u32> {
    let custom = calculations.iter().filter(|known| known.custom().is_some());
    let found = custom
        .into_iter()
        .position(|known| is_call(known, at, algorithm, name(given)));
    found.map(|number| number as u32)
}
