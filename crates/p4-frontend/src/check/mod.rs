//! Names and types: from the syntax tree to [`hir`](crate::hir).
//!
//! Each kind of place has a context of its own, which offers what is possible there:
//! - [`Facts`], the program so far, wherever checking is;
//! - [`Checker`], declarations and expressions: what names mean here;
//! - [`Body`], statements; [`Keysets`](keysets::Keysets), sets that keys are compared with.
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
//! A faulty expression gets the type [`Ty::Error`](hir::Ty::Error), which agrees with everything, so that one fault is one message.

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

/// Checks a whole program. What could not be given a meaning is missing in the result, and reported.
pub fn check(program: &ast::Program) -> (hir::Program<'_>, Vec<Diagnostic>) {
    let mut checker = Checker::new(program);
    for declaration in &program.declarations {
        checker.top_level(declaration);
    }
    checker.check_main();
    (checker.facts.hir, checker.facts.diagnostics)
}

/// What is being checked: decides which expressions and statements are valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inside {
    TopLevel,
    Parser,
    Control,
    Table,
    Action,
    Function,
}

/// Where checking is in the program.
struct Checker<'a> {
    facts: Facts<'a>,
    scopes: Vec<scope::Scope>,
    /// The names of the declarations around, which are not declared yet.
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
