//! Names and types: from the syntax tree to [`hir`](crate::hir).
//!
//! - `scope`: what a name refers to, declared before it is used; `types`: types as written; `annotations`;
//! - `declarations`, `errors`, `params`, `instances`, `initializers`, `extern_types`, `blocks`, `tables`, `entries`;
//! - `body`, what surrounds statements: `statements`, `switch`, `loops`;
//! - `expressions`, `parts`, `members`, `operators`, `casts`, `writable`, `keysets`;
//! - `calls`, `methods`, `constructors`, and for all of them `arguments`;
//! - `infer`: unification and implicit conversions; `constants`: folding.
//!
//! A faulty expression gets the type [`Ty::Error`], which agrees with everything, so that one fault is one message.

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

use crate::ast::{self, DeclId, Symbol};
use crate::diagnostic::Diagnostic;
use crate::hir::{self, Ty};
use crate::span::Span;
use body::Body;
use std::collections::{HashMap, HashSet};

/// Checks a whole program. What could not be given a meaning is missing in the result, and reported.
pub fn check(program: &ast::Program) -> (hir::Program<'_>, Vec<Diagnostic>) {
    let mut checker = Checker::new(program);
    for declaration in &program.declarations {
        checker.top_level(declaration);
    }
    checker.check_main();
    (checker.hir, checker.diagnostics)
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

struct Checker<'a> {
    hir: hir::Program<'a>,
    diagnostics: Vec<Diagnostic>,
    scopes: Vec<scope::Scope>,
    /// Top-level names that are declared anywhere, to say of an unknown one that it comes later.
    top_level: HashMap<Symbol, Span>,
    /// The names of the declarations around, which are not declared yet.
    open: Vec<ast::Ident>,
    /// Members of `error` that are declared so far.
    declared_errors: HashSet<Symbol>,
    /// What inference has found for each [`Ty::Var`].
    vars: Vec<Option<Ty>>,
    inside: Inside,
    /// The bases that constants are written in: names of keys keep them.
    radices: HashMap<DeclId, u32>,
    /// Whether nothing declares an error, which has still to be reported where `error` stands.
    lacks_errors: bool,
}

impl<'a> Checker<'a> {
    fn new(program: &'a ast::Program) -> Self {
        let mut hir = hir::Program {
            errors: errors::numbered(program),
            ..hir::Program::default()
        };
        hir.defs.resize_with(program.decl_count as usize, || None);
        let names = program.declarations.iter().rev();
        let declares_errors =
            |d: &ast::Declaration| matches!(d.kind, ast::DeclarationKind::Error { .. });
        Checker {
            hir,
            diagnostics: Vec::new(),
            scopes: vec![scope::Scope::default()],
            top_level: names.map(|d| (d.name.name.clone(), d.name.span)).collect(),
            open: Vec::new(),
            declared_errors: HashSet::new(),
            vars: Vec::new(),
            inside: Inside::TopLevel,
            radices: HashMap::new(),
            lacks_errors: !program.declarations.iter().any(declares_errors),
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Reports an error at one place.
    fn error(
        &mut self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
        label: impl Into<String>,
    ) {
        self.report(Diagnostic::error(code, message).label(span, label));
    }

    fn def(&self, id: DeclId) -> Option<&hir::Def<'a>> {
        self.hir.def(id)
    }
}
