//! The numbers of the members of `error`.

use crate::ast::{self, DeclarationKind, Symbol};
use p4_ir::CORE_ERRORS;
use std::collections::HashSet;

/// All members of `error`. A member's number is its index. Those of `core.p4` come first, regardless of the order of
/// declarations. `NoError` is always 0, the initial value of every variable of type `error`.
pub(super) fn numbered(program: &ast::Program) -> Vec<Symbol> {
    let no_error = Symbol::from(CORE_ERRORS[0]);
    let mut seen = HashSet::from([&no_error]);
    let mut errors = vec![no_error.clone()];
    for declaration in &program.declarations {
        if let DeclarationKind::Error { members } = &declaration.kind {
            let names = members.iter().map(|member| &member.name.name);
            errors.extend(names.filter(|name| seen.insert(*name)).cloned());
        }
    }
    let rank = |name: &Symbol| CORE_ERRORS.iter().position(|core| **core == **name);
    errors.sort_by_key(|name| rank(name).unwrap_or(CORE_ERRORS.len()));
    errors
}
