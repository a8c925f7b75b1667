//! Instances, including `main`.

use super::{Checker, Facts, Inside};
use crate::ast::{self, DeclId};
use crate::diagnostic::Diagnostic;
use crate::hir::{DefKind, ExprKind, Instance, NamedKind, Ty};
use crate::span::Span;

impl<'a> Checker<'a> {
    /// `type(args) name;`
    pub(super) fn instance(&mut self, d: &'a ast::Declaration, instance: &'a ast::Instance) {
        let ty = self.ty_to_infer(&instance.ty);
        if let Some(members) = &instance.initializer {
            self.infer_from_methods(&ty, members);
        }
        let built = self.constructor(&ty, &instance.args, d.name.span);
        let (members, methods) = match &instance.initializer {
            Some(members) => self.initializer(d, &built.ty, members),
            None => {
                self.check_not_abstract(&built.ty, d.name.span);
                Default::default()
            }
        };
        let kind = match built.kind {
            ExprKind::Call(call) => {
                self.check_instance_place(&built.ty, d);
                Instance {
                    ty: built.ty,
                    args: call.args,
                    members,
                    methods,
                }
            }
            _ => Instance {
                ty: Ty::Error,
                args: Vec::new(),
                members: Vec::new(),
                methods: Vec::new(),
            },
        };
        let kind = DefKind::Instance(kind);
        self.declare(d.id, &d.name, &d.annotations, kind);
    }

    fn check_instance_place(&mut self, ty: &Ty, d: &ast::Declaration) {
        let wrong = match (ty.named_kind(), self.inside) {
            (Some(NamedKind::Parser), Inside::Control) => Some("a parser in a control"),
            (Some(NamedKind::Control), Inside::Parser) => Some("a control in a parser"),
            (Some(NamedKind::Package), Inside::TopLevel) => None,
            (Some(NamedKind::Parser | NamedKind::Control), Inside::TopLevel) => {
                Some("a parser or control at the top level")
            }
            (Some(NamedKind::Package), _) => Some("a package other than at the top level"),
            (_, Inside::Action | Inside::Function) => Some("anything in an action or function"),
            _ => None,
        };
        if let Some(wrong) = wrong {
            self.error(
                "misplaced-declaration",
                d.name.span,
                format!("it is not allowed to instantiate {wrong}"),
                "not allowed here",
            );
        }
    }

    /// Finds `main`.
    pub(super) fn check_main(&mut self) {
        let is_main = |id: &&DeclId| self.def(**id).is_some_and(|d| &*d.name == "main");
        let Some(id) = self.hir.instances.iter().find(is_main).copied() else {
            if let Some(span) = self.top_level.get("main").copied() {
                let message = "`main` must be an instance of a package";
                self.error("bad-main", span, message, "this is not one");
            }
            return;
        };
        let Some(def) = self.def(id) else { return };
        let DefKind::Instance(instance) = &def.kind else {
            return;
        };
        if instance.ty.is(NamedKind::Package) || instance.ty.is_error() {
            self.hir.main = Some(id);
            return;
        }
        let diagnostic = Diagnostic::error("bad-main", "`main` must be an instance of a package")
            .label(def.span, format!("this is a `{}`", instance.ty));
        self.report(diagnostic);
    }
}

impl<'a> Facts<'a> {
    /// An instance of an extern with abstract methods must implement them: it needs an initializer.
    pub(super) fn check_not_abstract(&mut self, ty: &Ty, span: Span) {
        let methods = self.abstract_methods(ty);
        let required = methods
            .iter()
            .filter_map(|id| self.def(*id))
            .find(|def| ast::annotation(def.annotations, "optional").is_none());
        let Some(method) = required else { return };
        let message = format!("`{ty}` needs an implementation of `{}`", method.name);
        let diagnostic = Diagnostic::error("missing-method", message)
            .label(span, "expected an initializer: `… = { … };`")
            .label(method.span, "declared abstract here");
        self.report(diagnostic);
    }
}
