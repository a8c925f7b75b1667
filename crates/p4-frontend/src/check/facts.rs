//! What is known of the program so far, wherever checking is.

use super::errors;
use crate::ast::{self, DeclId, Symbol};
use crate::diagnostic::Diagnostic;
use crate::hir::{self, Ty};
use crate::span::Span;
use std::collections::{HashMap, HashSet};

/// The program so far: what declarations mean, what was inferred, and what is wrong.
pub(super) struct Facts<'a> {
    pub hir: hir::Program<'a>,
    pub diagnostics: Vec<Diagnostic>,
    /// What inference has found for each [`Ty::Var`].
    pub vars: Vec<Option<Ty>>,
    /// Those that a program writes as `_`.
    pub dont_care: HashSet<u32>,
    /// Top-level names that are declared anywhere, to say of an unknown one that it comes later.
    pub top_level: HashMap<Symbol, Span>,
    /// Members of `error` that are declared so far.
    pub declared_errors: HashSet<Symbol>,
    /// The bases that constants are written in: names of keys keep them.
    pub radices: HashMap<DeclId, u32>,
    /// Whether nothing declares an error, which has still to be reported where `error` stands.
    pub lacks_errors: bool,
}

impl<'a> Facts<'a> {
    pub fn new(program: &'a ast::Program) -> Self {
        let mut hir = hir::Program {
            errors: errors::numbered(program),
            ..hir::Program::default()
        };
        hir.defs.resize_with(program.decl_count as usize, || None);
        let names = program.declarations.iter().rev();
        let declares_errors =
            |d: &ast::Declaration| matches!(d.kind, ast::DeclarationKind::Error { .. });
        Facts {
            hir,
            diagnostics: Vec::new(),
            vars: Vec::new(),
            dont_care: HashSet::new(),
            top_level: names.map(|d| (d.name.name.clone(), d.name.span)).collect(),
            declared_errors: HashSet::new(),
            radices: HashMap::new(),
            lacks_errors: !program.declarations.iter().any(declares_errors),
        }
    }

    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Reports an error at one place.
    pub fn error(
        &mut self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
        label: impl Into<String>,
    ) {
        self.report(Diagnostic::error(code, message).label(span, label));
    }

    pub fn def(&self, id: DeclId) -> Option<&hir::Def<'a>> {
        self.hir.def(id)
    }
}
