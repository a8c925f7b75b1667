//! The state of checking that does not depend on the position in the program.

use super::errors;
use crate::ast::{self, DeclId, Symbol};
use crate::diagnostic::Diagnostic;
use crate::hir::{self, Ty};
use crate::span::Span;
use std::collections::{HashMap, HashSet};

/// The program so far: definitions, inferred types, and errors.
pub(super) struct Facts<'a> {
    pub hir: hir::Program<'a>,
    pub diagnostics: Vec<Diagnostic>,
    /// The inferred type of each [`Ty::Var`].
    pub vars: Vec<Option<Ty>>,
    /// Type variables that the program writes as `_`.
    pub dont_care: HashSet<u32>,
    /// All top-level names, to report for an unknown name that it is declared later.
    pub top_level: HashMap<Symbol, Span>,
    /// Members of `error` declared so far.
    pub declared_errors: HashSet<Symbol>,
    /// The radix of each constant in the source, which names of keys preserve.
    pub radices: HashMap<DeclId, u32>,
    /// Whether no error is declared. This is reported at the first use of `error`.
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

    /// Reports an error at a location.
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
