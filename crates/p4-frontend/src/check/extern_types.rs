//! Extern types.

use super::params::Of;
use super::{Checker, Facts};
use crate::ast::{self, DeclId, DeclarationKind};
use crate::diagnostic::Diagnostic;
use crate::hir::{DefKind, Extern, Function, Generic, Ty};

impl<'a> Checker<'a> {
    pub(super) fn extern_type(&mut self, d: &'a ast::Declaration, ext: &'a ast::Extern) {
        let mut of = Extern {
            constructors: Vec::new(),
            methods: Vec::new(),
        };
        let type_params = self.scoped(|c| {
            let type_params = c.type_params(&ext.type_params);
            for member in &ext.members {
                let function = match &member.kind {
                    DeclarationKind::Constructor { params } => {
                        of.constructors.push(member.id);
                        Function {
                            type_params: Vec::new(),
                            params: c.scoped(|c| c.params(params, Of::ExternConstructor)),
                            result: Ty::Void,
                            body: None,
                            of: Some(d.id),
                            is_abstract: false,
                        }
                    }
                    DeclarationKind::Function(function) => {
                        of.methods.push(member.id);
                        c.scoped(|c| c.function_body(member, function, Some(d.id)))
                    }
                    _ => continue,
                };
                c.check_member(d, member, &function, &of);
                let kind = DefKind::Function(function);
                c.define(member.id, &member.name, &member.annotations, kind);
            }
            type_params
        });
        let kind = DefKind::Extern(Generic { type_params, of });
        self.declare(d.id, &d.name, &d.annotations, kind);
    }
}

impl<'a> Facts<'a> {
    fn check_member(
        &mut self,
        ext: &ast::Declaration,
        member: &ast::Declaration,
        function: &Function,
        of: &Extern,
    ) {
        let is_method = matches!(member.kind, DeclarationKind::Function(_));
        if is_method && member.name.name == ext.name.name {
            self.error(
                "constructor-result",
                member.span,
                format!(
                    "the constructor of `{}` cannot have a result",
                    ext.name.name
                ),
                "expected no type before the name",
            );
        }
        let names = |f: &Function| -> Vec<ast::Symbol> {
            f.params.iter().map(|p| p.name.clone()).collect()
        };
        let same = |id: &&DeclId| {
            let named_so = self.def(**id).is_some_and(|d| d.name == member.name.name);
            let same_params = |f: Function| names(&f) == names(function);
            **id != member.id && named_so && self.function(**id).is_some_and(same_params)
        };
        let others = of.constructors.iter().chain(&of.methods);
        if let Some(first) = others.clone().find(same).copied() {
            let first = self.def(first).map(|d| d.span);
            let mut diagnostic = Diagnostic::error(
                "duplicate-declaration",
                format!(
                    "`{}` is declared twice with these parameters",
                    member.name.name
                ),
            )
            .label(member.name.span, "declared again");
            if let Some(first) = first {
                diagnostic = diagnostic.label(first, "first declared here");
            }
            self.report(diagnostic);
        }
    }
}
