//! Scopes: name resolution at a position.

use super::{Checker, Facts, Inside, suggest};
use crate::ast::{self, DeclId, Symbol};
use crate::diagnostic::Diagnostic;
use crate::hir::{Def, DefKind, Ty};
use crate::span::Span;
use std::collections::HashMap;

/// Names declared so far within a pair of braces. Several declarations of a name are overloads.
#[derive(Debug, Default)]
pub(super) struct Scope {
    names: HashMap<Symbol, Vec<DeclId>>,
    /// In an initializer, the instance that `this` refers to, and its type.
    pub this: Option<(DeclId, Ty)>,
}

impl<'a> Checker<'a> {
    /// Runs `check` in another context.
    pub(super) fn within<R>(&mut self, inside: Inside, check: impl FnOnce(&mut Self) -> R) -> R {
        let outside = std::mem::replace(&mut self.inside, inside);
        let result = check(self);
        self.inside = outside;
        result
    }

    /// Runs `body` in a new scope.
    pub(super) fn scoped<R>(&mut self, body: impl FnOnce(&mut Self) -> R) -> R {
        self.scopes.push(Scope::default());
        let result = body(self);
        self.scopes.pop();
        result
    }

    /// Defines `id` and declares its name from here to the end of the scope.
    pub(super) fn declare(
        &mut self,
        id: DeclId,
        name: &ast::Ident,
        annotations: &'a [ast::Annotation],
        kind: DefKind<'a>,
    ) {
        self.check_duplicate(name, &kind);
        self.check_annotations(annotations);
        self.define(id, name, annotations, kind);
        self.introduce(id, name);
    }

    /// Declares the name of a definition from here to the end of the scope.
    pub(super) fn introduce(&mut self, id: DeclId, name: &ast::Ident) {
        let scope = self.scopes.last_mut().expect("the top-level scope");
        scope.names.entry(name.name.clone()).or_default().push(id);
    }

    fn check_duplicate(&mut self, name: &ast::Ident, kind: &DefKind) {
        let scope = self.scopes.last().expect("the top-level scope");
        let Some(others) = scope.names.get(&name.name) else {
            return;
        };
        let clash = others.iter().find_map(|id| {
            let def = self.def(*id)?;
            (!may_overload(&def.kind, kind)).then_some(def.span)
        });
        let Some(first) = clash else { return };
        self.report(
            Diagnostic::error(
                "duplicate-declaration",
                format!("`{}` is declared twice in this scope", name.name),
            )
            .label(name.span, "declared again")
            .label(first, "first declared here"),
        );
    }

    /// The parameter that a local would shadow, with only parameters and locals in between.
    pub(super) fn shadowed_parameter(&self, name: &ast::Ident) -> Option<Span> {
        let around = self.scopes.iter().rev().take(3);
        let id = around
            .filter_map(|s| s.names.get(&name.name))
            .flatten()
            .next()?;
        let def = self.def(*id)?;
        matches!(def.kind, DefKind::Param(..)).then_some(def.span)
    }

    /// All declarations that a name refers to, from the innermost scope that has any.
    pub(super) fn find(&self, path: &ast::Path) -> &[DeclId] {
        let name = &path.name.name;
        let mut scopes: Box<dyn Iterator<Item = &Scope>> = if path.absolute {
            Box::new(self.scopes.iter().take(1))
        } else {
            Box::new(self.scopes.iter().rev())
        };
        scopes
            .find_map(|scope| scope.names.get(name))
            .map_or(&[], Vec::as_slice)
    }

    /// The declaration (or first overload) to which a name refers. Reports an unknown name.
    pub(super) fn resolve(&mut self, path: &ast::Path, wanted: &str) -> Option<DeclId> {
        if let Some(id) = self.find(path).first() {
            return Some(*id);
        }
        let name = &path.name.name;
        if let Some(around) = self.open.iter().rev().find(|open| open.name == *name) {
            let message = format!("`{name}` uses itself; P4 has no recursion");
            let diagnostic = Diagnostic::error("recursion", message)
                .label(path.name.span, "used in its own declaration")
                .label(around.span, "declared here");
            self.report(diagnostic);
            return None;
        }
        let mut diagnostic =
            Diagnostic::error("unknown-name", format!("there is no {wanted} `{name}`"))
                .label(path.name.span, "not declared");
        if let Some(later) = self.top_level.get(name) {
            let help = match self.open.last() {
                Some(around) => format!(
                    "declare it before `{}`; the two cannot use one another, as P4 has no recursion",
                    around.name
                ),
                None => "declare it before it is used".into(),
            };
            diagnostic = diagnostic.label(*later, "declared only here").help(help);
        } else if let Some(near) = self.nearest_name(name) {
            diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
        } else if let Some(file) = declaring(name) {
            diagnostic = diagnostic.help(format!("is `#include <{file}>` missing?"));
        }
        self.report(diagnostic);
        None
    }

    fn nearest_name(&self, name: &str) -> Option<String> {
        let names = self.scopes.iter().rev().flat_map(|s| s.names.keys());
        let mut names: Vec<&str> = names.map(|n| &**n).collect();
        names.sort_unstable();
        suggest::nearest(name, names).map(str::to_string)
    }
}

impl<'a> Facts<'a> {
    /// Defines `id` without declaring a name. Replaces an earlier definition.
    pub(super) fn define(
        &mut self,
        id: DeclId,
        name: &ast::Ident,
        annotations: &'a [ast::Annotation],
        kind: DefKind<'a>,
    ) {
        self.hir.defs[id.0 as usize] = Some(Def {
            name: name.name.clone(),
            span: name.span,
            annotations,
            kind,
        });
    }
}

/// Whether two declarations may share a name: functions with different numbers or names of parameters.
fn may_overload(a: &DefKind, b: &DefKind) -> bool {
    let (DefKind::Function(a), DefKind::Function(b)) = (a, b) else {
        return false;
    };
    let names = |f: &crate::hir::Function| -> Vec<Symbol> {
        f.params.iter().map(|p| p.name.clone()).collect()
    };
    names(a) != names(b)
}

/// "a table", "a struct": for messages.
pub(super) fn described(kind: &DefKind) -> &'static str {
    match kind {
        DefKind::Constant(_) => "a constant",
        DefKind::Variable(_) => "a variable",
        DefKind::Param(..) => "a parameter",
        DefKind::ConstructorParam(_) => "a constructor's parameter",
        DefKind::TypeParam => "a type parameter",
        DefKind::Fields(kind, _) => match kind {
            crate::hir::NamedKind::Header => "a header type",
            crate::hir::NamedKind::Union => "a header union type",
            _ => "a struct type",
        },
        DefKind::Enum { .. } => "an enum",
        DefKind::Typedef(_) | DefKind::NewType(_) => "a type",
        DefKind::Extern(_) => "an extern type",
        DefKind::Function(_) => "a function",
        DefKind::Action(_) => "an action",
        DefKind::Parser(_) => "a parser",
        DefKind::Control(_) => "a control",
        DefKind::Package(_) => "a package",
        DefKind::Instance(_) => "an instance",
        DefKind::Table(_) => "a table",
        DefKind::ValueSet(_) => "a value set",
        DefKind::State => "a parser state",
    }
}

/// The file that declares a name which most programs for an architecture use.
fn declaring(name: &str) -> Option<&'static str> {
    Some(match name {
        "NoAction" | "packet_in" | "packet_out" => "core.p4",
        "standard_metadata_t" | "V1Switch" | "HashAlgorithm" | "mark_to_drop" => "v1model.p4",
        "psa_ingress_input_metadata_t" | "psa_egress_input_metadata_t" | "PSA_Switch" => "psa.p4",
        "ingress_intrinsic_metadata_t" | "egress_intrinsic_metadata_t" => "tna.p4",
        _ => return None,
    })
}
