//! Name resolution and type checking: from the syntax tree to [`hir`](crate::hir).
//!
//! Each kind of position has its own context, which offers the operations that are valid there:
//! - [`Facts`]: the program so far, independent of the position;
//! - [`Checker`]: declarations and expressions, with the meaning of names at the position;
//! - [`Body`]: statements; [`Keysets`](keysets::Keysets): keysets to which keys are compared.
//!
//! The files:
//! - `facts`;
//! - `scope`: what a name refers to, declared before it is used; `types`: types as written; `annotations`;
//! - `declarations`, `errors`, `params`, `instances`, `initializers`, `extern_types`, `blocks`, `tables`, `entries`;
//! - `body`, what surrounds statements: `statements`, `switch`, `loops`;
//! - `expressions`, `parts`, `members`, `operators`, `casts`, `writable`, `keysets`;
//! - `calls`, `methods`, `constructors`, and for all of them `arguments`;
//! - `infer`: unification and implicit conversions; `constants`: folding.
//!
//! An expression with an error has the type [`Ty::Error`](hir::Ty::Error), which agrees with every type, so that one
//! error causes one message.

mod annotations;
mod arguments;
mod blocks;
mod body;
mod calls;
mod casts;
pub(crate) mod constants;
mod constructors;
mod declarations;
mod entries;
mod errors;
mod expressions;
mod extern_types;
mod facts;
mod infer;
mod initializers;
mod instances;
mod key_names;
mod keysets;
mod loops;
mod members;
mod methods;
mod operators;
mod params;
mod parts;
mod scope;
mod statements;
mod suggest;
mod switch;
mod tables;
mod text;
mod types;
mod writable;

use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::hir;
use body::Body;
use facts::Facts;
use std::ops::{Deref, DerefMut};

/// Checks a complete program. Declarations with errors are missing in the result, and reported.
pub fn check(program: &ast::Program) -> (hir::Program<'_>, Vec<Diagnostic>) {
    let mut checker = Checker::new(program);
    for declaration in &program.declarations {
        checker.top_level(declaration);
    }
    checker.check_main();
    (checker.facts.hir, checker.facts.diagnostics)
}

/// The code being checked, which determines the valid expressions and statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inside {
    TopLevel,
    Parser,
    Control,
    Table,
    Action,
    Function,
}

/// The current position in the program.
struct Checker<'a> {
    facts: Facts<'a>,
    scopes: Vec<scope::Scope>,
    /// The names of the enclosing declarations, which are not declared yet.
    open: Vec<ast::Ident>,
    inside: Inside,
}

impl<'a> Deref for Checker<'a> {
    type Target = Facts<'a>;

    fn deref(&self) -> &Self::Target {
        &self.facts
    }
}

impl DerefMut for Checker<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.facts
    }
}

impl<'a> Checker<'a> {
    fn new(program: &'a ast::Program) -> Self {
        Checker {
            facts: Facts::new(program),
            scopes: vec![scope::Scope::default()],
            open: Vec::new(),
            inside: Inside::TopLevel,
        }
    }
}
