//! Names of places.

use crate::{Expr, ExprKind, Location, Program, Step, Type};
use std::fmt::Write;

/// The dotted name of a place. `index` formats an index that is computed at run time.
pub(super) fn location(
    program: &Program,
    at: &Location,
    index: &dyn Fn(&Expr) -> String,
) -> String {
    let variable = &program[at.variable];
    let mut name = variable.name.clone();
    let mut ty = Some(&variable.ty);
    for step in &at.path {
        let written = match step {
            Step::Member(i) => member(program, &mut name, &mut ty, *i),
            Step::Element(i) => {
                ty = ty.and_then(Type::elements).map(|(element, _)| element);
                match &i.kind {
                    ExprKind::Const(i) => write!(name, "[{i}]"),
                    _ => write!(name, "[{}]", index(i)),
                }
            }
            Step::Valid => write!(name, ".$valid"),
            Step::NextIndex => write!(name, ".$next"),
        };
        written.expect("writing to a string does not fail");
    }
    name
}

fn member<'p>(
    program: &'p Program,
    name: &mut String,
    ty: &mut Option<&'p Type>,
    i: u32,
) -> std::fmt::Result {
    let of = ty.and_then(|ty| ty.fields(program).get(i as usize));
    *ty = ty.and_then(|ty| ty.member(program, i));
    match of {
        Some(field) => write!(name, ".{}", field.name),
        None => write!(name, "[{i}]"),
    }
}
