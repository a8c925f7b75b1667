//! Instances that implement abstract methods: `type(args) name = { … };`

use super::{Checker, Facts, suggest};
use crate::ast::{self, DeclId, DeclarationKind, Direction};
use crate::diagnostic::Diagnostic;
use crate::hir::{DefKind, Function, Param, Substitution, Ty};
use crate::span::Span;

impl<'a> Checker<'a> {
    /// Checks an initializer against the abstract methods of the extern `ty`. Returns the instances that it declares
    /// and the methods that it implements.
    pub(super) fn initializer(
        &mut self,
        d: &ast::Declaration,
        ty: &Ty,
        members: &'a [ast::Declaration],
    ) -> (Vec<DeclId>, Vec<DeclId>) {
        for (method, others) in self.implementations(d, ty, members) {
            self.missing_method(d, ty, method, &others);
        }
        let (methods, instances): (Vec<_>, Vec<_>) = members
            .iter()
            .partition(|m| matches!(m.kind, DeclarationKind::Function(_)));
        let ids = |of: Vec<&ast::Declaration>| of.iter().map(|m| m.id).collect();
        (ids(instances), ids(methods))
    }

    /// Infers type arguments that an extern's instance leaves open from the types of the methods in its initializer.
    pub(super) fn infer_from_methods(&mut self, ty: &Ty, members: &'a [ast::Declaration]) {
        let Ty::Named(named) = ty else { return };
        if !named.args.iter().any(|arg| matches!(arg, Ty::Var(_))) {
            return;
        }
        let with = self.hir.substitution(named);
        let wanted = self.abstract_methods(ty);
        let before = self.diagnostics.len();
        for member in members {
            let DeclarationKind::Function(function) = &member.kind else {
                continue;
            };
            let mut named = wanted.iter().copied();
            let method = named.find(|id| self.def(*id).is_some_and(|d| d.name == member.name.name));
            let Some(method) = method.and_then(|id| self.function(id)) else {
                continue;
            };
            if !function.type_params.is_empty() {
                continue;
            }
            let result = self.result_type(&function.result);
            self.infer(&method.result.substitute(&with), &result);
            for (param, given) in method.params.iter().zip(&function.params) {
                let given = self.ty(&given.ty);
                self.infer(&param.ty.substitute(&with), &given);
            }
        }
        // What is wrong with these types is reported when the methods are checked.
        self.diagnostics.truncate(before);
    }

    /// Checks each member. Returns the abstract methods that are not implemented, with members of the same name.
    fn implementations(
        &mut self,
        d: &ast::Declaration,
        ty: &Ty,
        members: &'a [ast::Declaration],
    ) -> Vec<(DeclId, Vec<Span>)> {
        let wanted = self.abstract_methods(ty);
        if wanted.is_empty() && !ty.is_error() {
            self.error(
                "no-abstract-methods",
                d.name.span,
                format!("`{ty}` has no abstract methods to implement"),
                "expected no initializer",
            );
        }
        let with = match ty {
            Ty::Named(named) => self.hir.substitution(named),
            _ => Substitution::default(),
        };
        let mut missing: Vec<_> = wanted.iter().map(|id| (*id, Vec::new())).collect();
        self.scoped(|c| {
            c.scopes.last_mut().expect("opened above").this = Some((d.id, ty.clone()));
            for member in members {
                let function = match &member.kind {
                    DeclarationKind::Function(function) => function,
                    DeclarationKind::Instance(instance) => {
                        c.instance(member, instance);
                        continue;
                    }
                    _ => continue,
                };
                let function = c.scoped(|c| c.function_body(member, function, None));
                if !wanted.is_empty() {
                    c.implemented(member, &function, &with, &mut missing);
                }
                let kind = DefKind::Function(function);
                c.declare(member.id, &member.name, &member.annotations, kind);
            }
        });
        missing
    }
}

impl<'a> Facts<'a> {
    pub(super) fn abstract_methods(&self, ty: &Ty) -> Vec<DeclId> {
        let Ty::Named(named) = ty else {
            return Vec::new();
        };
        let Some(DefKind::Extern(ext)) = self.hir.kind(named.id) else {
            return Vec::new();
        };
        let is_abstract = |id: &DeclId| self.function(*id).is_some_and(|f| f.is_abstract);
        ext.of.methods.iter().copied().filter(is_abstract).collect()
    }

    /// Removes the abstract method that a function implements from the missing ones.
    fn implemented(
        &mut self,
        member: &ast::Declaration,
        function: &Function,
        with: &Substitution,
        missing: &mut Vec<(DeclId, Vec<Span>)>,
    ) {
        let name = &member.name;
        let same = |id: DeclId| {
            let method = self.function(id);
            method.is_some_and(|method| same_shape(&method, with, function))
        };
        let named = |id: DeclId| self.def(id).is_some_and(|d| d.name == name.name);
        if let Some(at) = missing.iter().position(|(id, _)| named(*id) && same(*id)) {
            missing.remove(at);
            return;
        }
        let mut so_named = missing.iter_mut().filter(|(id, _)| named(*id)).peekable();
        if so_named.peek().is_some() {
            so_named.for_each(|(_, others)| others.push(name.span));
            return;
        }
        let left = missing.iter().filter_map(|(id, _)| self.def(*id));
        let left: Vec<String> = left.map(|def| def.name.to_string()).collect();
        let label = match left.is_empty() {
            true => "all abstract methods are implemented".to_string(),
            false => format!(
                "expected {}",
                suggest::listed(left.iter().map(String::as_str))
            ),
        };
        let message = format!("`{}` implements no abstract method", name.name);
        self.error("no-such-method", name.span, message, label);
    }

    fn missing_method(&mut self, d: &ast::Declaration, ty: &Ty, method: DeclId, others: &[Span]) {
        let Some(method) = self.def(method) else {
            return;
        };
        let optional = ast::annotation(method.annotations, "optional").is_some();
        if optional && others.is_empty() {
            return;
        }
        let message = format!("`{ty}` needs an implementation of `{}`", method.name);
        let mut diagnostic = Diagnostic::error("missing-method", message)
            .label(d.name.span, "not implemented")
            .label(method.span, "declared abstract here");
        for other in others {
            diagnostic = diagnostic.label(*other, "has other parameters, or another result");
        }
        self.report(diagnostic);
    }
}

/// Whether a function has the parameters and result of the abstract method, up to names of type parameters. It may omit
/// trailing optional parameters.
fn same_shape(method: &Function, with: &Substitution, function: &Function) -> bool {
    let mut with = with.clone();
    for ((id, _), (own, name)) in method.type_params.iter().zip(&function.type_params) {
        with.insert(*id, Ty::Param(*own, name.clone()));
    }
    let taken = function.params.len().min(method.params.len());
    let (wanted, left_out) = method.params.split_at(taken);
    let shape = |result: &Ty, params: &[Param]| -> (Ty, Vec<(Ty, Direction)>) {
        let params = params.iter();
        let params = params.map(|p| (p.ty.substitute(&with), p.direction));
        (result.substitute(&with), params.collect())
    };
    method.type_params.len() == function.type_params.len()
        && left_out.iter().all(|p| p.optional)
        && shape(&method.result, wanted) == shape(&function.result, &function.params)
}
